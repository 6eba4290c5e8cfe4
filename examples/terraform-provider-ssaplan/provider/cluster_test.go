package provider_test

import (
	"context"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	clientdynamic "k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/ssaplan/primitives/test/lab"
)

func newCluster(t *testing.T) *cluster {
	t.Helper()
	return &cluster{Cluster: lab.New(t)}
}

// block is the cluster block with the credentials of an administrator.
func (c *cluster) block() map[string]any { return blockOf(c.Server.Config()) }

func blockOf(config *rest.Config) map[string]any {
	block := map[string]any{"host": config.Host, "cluster_ca_certificate": string(config.CAData)}
	if len(config.CertData) > 0 {
		block["client_certificate"], block["client_key"] = string(config.CertData), string(config.KeyData)
	}
	if config.BearerToken != "" {
		block["token"] = config.BearerToken
	}
	return block
}

// in puts the namespace of the test into a text.
func (c *cluster) in(text string) string { return strings.ReplaceAll(text, "NAMESPACE", c.Namespace) }

func (c *cluster) resource(plural string) clientdynamic.ResourceInterface {
	group, version := "", "v1"
	switch plural {
	case "deployments":
		group = "apps"
	case "horizontalpodautoscalers":
		group, version = "autoscaling", "v2"
	case "jobs":
		group = "batch"
	case "widgets":
		group = "example.com"
	}
	return c.Client.Resource(schema.GroupVersionResource{Group: group, Version: version, Resource: plural}).Namespace(c.Namespace)
}

func (c *cluster) live(t *testing.T, plural, name string) *unstructured.Unstructured {
	t.Helper()
	live, err := c.resource(plural).Get(context.WithoutCancel(t.Context()), name, metav1.GetOptions{})
	require.NoError(t, err)
	return live
}

// foreign changes the live object as another manager.
func (c *cluster) foreign(t *testing.T, plural, name, patch string, subresources ...string) {
	t.Helper()
	_, err := c.resource(plural).Patch(t.Context(), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{FieldManager: "somebody"}, subresources...)
	require.NoError(t, err)
}

func (c *cluster) value(t *testing.T, plural, name string, path ...string) string {
	t.Helper()
	v, _, err := unstructured.NestedFieldNoCopy(c.live(t, plural, name).Object, path...)
	require.NoError(t, err)
	return fmt.Sprint(v)
}

// robot returns a token of a service account that may do everything in the namespace of the test.
func (c *cluster) robot(t *testing.T, name string) string {
	t.Helper()
	clients, err := kubernetes.NewForConfig(c.Server.Config())
	require.NoError(t, err)
	accounts := clients.CoreV1().ServiceAccounts(c.Namespace)
	_, err = accounts.Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
	require.NoError(t, err)
	_, err = clients.RbacV1().RoleBindings(c.Namespace).Create(t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Subjects:   []rbacv1.Subject{{Kind: "ServiceAccount", Name: name, Namespace: c.Namespace}},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	c.WaitAllowed(t, "system:serviceaccount:"+c.Namespace+":"+name, "patch", "configmaps")
	token, err := accounts.CreateToken(t.Context(), name, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	require.NoError(t, err)
	return token.Status.Token
}

// revoke makes a token invalid, and waits until the server knows: it remembers tokens for some seconds.
func (c *cluster) revoke(t *testing.T, name, token string) {
	t.Helper()
	require.NoError(t, c.resource("serviceaccounts").Delete(t.Context(), name, metav1.DeleteOptions{}))
	config := rest.AnonymousClientConfig(c.Server.Config())
	config.BearerToken = token
	clients, err := kubernetes.NewForConfig(config)
	require.NoError(t, err)
	lab.Eventually(t, "the token is invalid", func() bool {
		_, err := clients.CoreV1().ConfigMaps(c.Namespace).Get(t.Context(), "settings", metav1.GetOptions{})
		return apierrors.IsUnauthorized(err)
	})
}

func (c *cluster) withToken(token string) map[string]any {
	config := c.Server.Config()
	return map[string]any{"host": config.Host, "cluster_ca_certificate": string(config.CAData), "token": token}
}

func expiredToken() string {
	part := base64.RawURLEncoding.EncodeToString
	return part([]byte(`{"alg":"RS256"}`)) + "." + part([]byte(`{"exp":1700000000,"sub":"robot"}`)) + "." + part([]byte("signature"))
}

// refusedCredentials are blocks by the names that scripts have for them.
func (c *cluster) refusedCredentials(t *testing.T) map[string]map[string]any {
	t.Helper()
	past := time.Now().Add(-time.Hour)
	cert, key, err := c.Server.ClientCert("robot", []string{"system:masters"}, past.Add(-time.Hour), past)
	require.NoError(t, err)
	expired := rest.AnonymousClientConfig(c.Server.Config())
	expired.CertData, expired.KeyData = cert, key
	stranger, err := c.Server.ConfigFor("stranger")
	require.NoError(t, err)
	return map[string]map[string]any{
		"expired-token": c.withToken(expiredToken()), "unknown-token": c.withToken("unknown"),
		"expired-certificate": blockOf(expired), "stranger": blockOf(stranger),
	}
}

func otherAuthority(t *testing.T) string {
	t.Helper()
	server := httptest.NewTLSServer(http.NotFoundHandler())
	defer server.Close()
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}))
}

// helm applies a manifest as another manager.
func (c *cluster) helm(t *testing.T, plural, text string) {
	t.Helper()
	obj := lab.Object(t, c.in(text))
	body, err := obj.MarshalJSON()
	require.NoError(t, err)
	_, err = c.resource(plural).Patch(t.Context(), obj.GetName(), types.ApplyPatchType, body, metav1.PatchOptions{FieldManager: "helm"})
	require.NoError(t, err)
}

// deleteDefinition deletes the CRD of gadgets without Terraform, and waits until the kind is no longer served.
func (c *cluster) deleteDefinition(t *testing.T) {
	t.Helper()
	definitions := c.Client.Resource(schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"})
	gadgets := c.Client.Resource(schema.GroupVersionResource{Group: c.in("NAMESPACE.example.com"), Version: "v1", Resource: "gadgets"}).Namespace(c.Namespace)
	require.NoError(t, definitions.Delete(t.Context(), c.in("gadgets.NAMESPACE.example.com"), metav1.DeleteOptions{}))
	lab.Eventually(t, "the kind isn't served", func() bool {
		_, err := gadgets.List(t.Context(), metav1.ListOptions{})
		return apierrors.IsNotFound(err)
	})
}

// clusterValue is a cluster as a value that a local can hold.
func (c *cluster) clusterValue(credentials string) string {
	config := c.Server.Config()
	return fmt.Sprintf("{\n    host = %q\n    cluster_ca_certificate = %q\n    %s\n  }", config.Host, string(config.CAData), credentials)
}
