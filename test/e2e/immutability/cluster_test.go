// Package immutability_test compares the verdicts of the package immutability with what a real API server does.
package immutability_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"

	"github.com/ssaplan/primitives/test/controlplane"
)

const (
	manager   = "catalogue"
	namespace = "immutability"
)

// serverFlags turn on every API that has immutable fields. The gates differ between versions: unknown ones would keep
// the server from starting.
func serverFlags(version string) []string {
	gates := "ClusterTrustBundle=true,CoordinatedLeaderElection=true,StorageVersionMigrator=true"
	if strings.HasPrefix(version, "v1.33.") {
		gates += ",DynamicResourceAllocation=true,VolumeAttributesClass=true"
	} else {
		gates += ",PodCertificateRequest=true,GenericWorkload=true,DRAResourcePoolStatus=true"
	}
	return []string{
		"--runtime-config=api/all=true",
		"--feature-gates=" + gates,
		"--service-cluster-ip-range=10.96.0.0/16,fd00:10:96::/112", // dual-stack
	}
}

// cluster is a server and a client for any kind.
type cluster struct {
	server  *controlplane.Server
	dynamic dynamic.Interface
	mapper  *restmapper.DeferredDiscoveryRESTMapper
}

func newCluster(t *testing.T) *cluster {
	t.Helper()
	server := controlplane.ForTest(t, controlplane.Options{APIServerArgs: serverFlags(selectedVersion(t))})
	c := clusterFor(t, server, server.Config())
	c.apply(t, parse(t, "{apiVersion: v1, kind: Namespace, metadata: {name: "+namespace+"}}"))
	return c
}

func clusterFor(t *testing.T, server *controlplane.Server, config *rest.Config) *cluster {
	t.Helper()
	client, err := dynamic.NewForConfig(config)
	require.NoError(t, err)
	disc, err := discovery.NewDiscoveryClientForConfig(config)
	require.NoError(t, err)
	return &cluster{server, client, restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(disc))}
}

// resource returns the client for an object's resource and namespace, or nil if the server doesn't serve its kind.
func (c *cluster) resource(obj *unstructured.Unstructured) dynamic.ResourceInterface {
	gvk := obj.GroupVersionKind()
	mapping, err := c.mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
	if err != nil {
		return nil
	}
	resource := c.dynamic.Resource(mapping.Resource)
	if mapping.Scope.Name() == "root" {
		return resource
	}
	if obj.GetNamespace() == "" {
		return resource.Namespace(namespace)
	}
	return resource.Namespace(obj.GetNamespace())
}

func (c *cluster) tryApply(obj *unstructured.Unstructured, dryRun bool) (*unstructured.Unstructured, error) {
	body, err := obj.MarshalJSON()
	if err != nil {
		return nil, err
	}
	force := true
	options := metav1.PatchOptions{FieldManager: manager, Force: &force}
	if dryRun {
		options.DryRun = []string{metav1.DryRunAll}
	}
	return c.resource(obj).Patch(context.Background(), obj.GetName(), types.ApplyPatchType, body, options)
}

func (c *cluster) apply(t *testing.T, obj *unstructured.Unstructured) *unstructured.Unstructured {
	t.Helper()
	applied, err := c.tryApply(obj, false)
	require.NoError(t, err)
	return applied
}

// put replaces the live object with the manifest.
func (c *cluster) put(manifest, live *unstructured.Unstructured) error {
	body := manifest.DeepCopy()
	body.SetResourceVersion(live.GetResourceVersion())
	body.SetUID("")
	_, err := c.resource(body).Update(context.Background(), body, metav1.UpdateOptions{FieldManager: manager})
	return err
}

// patch sends a merge patch, to a subresource if one is named.
func (c *cluster) patch(t *testing.T, obj *unstructured.Unstructured, body string, subresources ...string) {
	t.Helper()
	_, err := c.resource(obj).Patch(context.Background(), obj.GetName(), types.MergePatchType, []byte(body),
		metav1.PatchOptions{FieldManager: "other"}, subresources...)
	require.NoError(t, err)
}

func (c *cluster) get(t *testing.T, obj *unstructured.Unstructured) *unstructured.Unstructured {
	t.Helper()
	live, err := c.resource(obj).Get(context.Background(), obj.GetName(), metav1.GetOptions{})
	require.NoError(t, err)
	return live
}

// delete deletes the object and waits until it is gone. No controllers run here that would remove finalizers.
func (c *cluster) delete(t *testing.T, obj *unstructured.Unstructured) {
	t.Helper()
	ctx := context.Background()
	resource := c.resource(obj)
	now := int64(0)
	err := resource.Delete(ctx, obj.GetName(), metav1.DeleteOptions{GracePeriodSeconds: &now})
	if apierrors.IsNotFound(err) {
		return
	}
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		live, err := resource.Get(ctx, obj.GetName(), metav1.GetOptions{})
		if err == nil && len(live.GetFinalizers()) > 0 && live.GetKind() != "CustomResourceDefinition" {
			_, _ = resource.Patch(ctx, obj.GetName(), types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
		}
		return apierrors.IsNotFound(err)
	}, 20*time.Second, 10*time.Millisecond)
}

// established waits until the API server serves the kind that a CustomResourceDefinition defines.
func (c *cluster) established(t *testing.T, crd *unstructured.Unstructured) {
	t.Helper()
	require.Eventually(t, func() bool {
		conditions, _, _ := unstructured.NestedSlice(c.get(t, crd).Object, "status", "conditions")
		for _, item := range conditions {
			condition, _ := item.(map[string]any)
			if condition["type"] == "Established" && condition["status"] == "True" {
				return true
			}
		}
		return false
	}, 20*time.Second, 10*time.Millisecond)
}
