package provider_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

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

// cluster is a namespace on the real control plane, for one test.
type cluster struct{ *lab.Cluster }

func newCluster(t *testing.T) *cluster {
	t.Helper()
	return &cluster{lab.New(t)}
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

// config is the configuration of the resource.
func (c *cluster) config(yamlBody string, more ...map[string]any) map[string]any {
	out := map[string]any{"yaml_body": c.in(yamlBody), "cluster": c.block()}
	for _, m := range more {
		for name, value := range m {
			out[name] = value
		}
	}
	return out
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
	c.awaitInvalid(t, token)
}

// awaitInvalid waits until the server refuses a token.
func (c *cluster) awaitInvalid(t *testing.T, token string) {
	t.Helper()
	config := rest.AnonymousClientConfig(c.Server.Config())
	config.BearerToken = token
	clients, err := kubernetes.NewForConfig(config)
	require.NoError(t, err)
	lab.Eventually(t, "the token is invalid", func() bool {
		_, err := clients.CoreV1().ConfigMaps(c.Namespace).Get(t.Context(), "settings", metav1.GetOptions{})
		return apierrors.IsUnauthorized(err)
	})
}
