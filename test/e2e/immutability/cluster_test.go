// Package immutability_test compares the verdicts of the package immutability with what a real API server does.
package immutability_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
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

// serverFlags turn on every API that has immutable fields. The gates differ between versions: an unknown one keeps the
// server from starting.
func serverFlags() []string {
	gates := "ClusterTrustBundle=true,CoordinatedLeaderElection=true,StorageVersionMigrator=true"
	if minor == "1.33" {
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

// newCluster returns the cluster that the tests of this package share.
func newCluster(t *testing.T) *cluster {
	t.Helper()
	server, err := sharedServer()
	require.NoError(t, err)
	c := clusterFor(t, server, server.Config())
	c.apply(t, parse(t, "{apiVersion: v1, kind: Namespace, metadata: {name: "+namespace+"}}"))
	return c
}

// sharedServer starts a server that ends with this process.
var sharedServer = sync.OnceValues(func() (*controlplane.Server, error) {
	return controlplane.Start(context.Background(), controlplane.Options{Version: minor, APIServerArgs: serverFlags()})
})

func clusterFor(t *testing.T, server *controlplane.Server, config *rest.Config) *cluster {
	t.Helper()
	config.WarningHandler = rest.NoWarnings{}
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
	c.eventually(t, func() bool {
		live, err := resource.Get(ctx, obj.GetName(), metav1.GetOptions{})
		if err == nil && len(live.GetFinalizers()) > 0 && live.GetKind() != "CustomResourceDefinition" {
			_, _ = resource.Patch(ctx, obj.GetName(), types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
		}
		return apierrors.IsNotFound(err)
	})
}

// established waits until the API server serves the kind that a CustomResourceDefinition defines.
func (c *cluster) established(t *testing.T, crd *unstructured.Unstructured) {
	t.Helper()
	c.eventually(t, func() bool {
		conditions, _, _ := unstructured.NestedSlice(c.get(t, crd).Object, "status", "conditions")
		for _, item := range conditions {
			condition, _ := item.(map[string]any)
			if condition["type"] == "Established" && condition["status"] == "True" {
				return true
			}
		}
		return false
	})
}

// eventually polls on this goroutine, so that the condition may fail the test.
func (c *cluster) eventually(t *testing.T, condition func() bool) {
	t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for !condition() {
		require.True(t, time.Now().Before(deadline), "waited for 20 s in vain")
		time.Sleep(10 * time.Millisecond)
	}
}

// startDeleting deletes an object that a finalizer keeps.
func (c *cluster) startDeleting(t *testing.T, obj *unstructured.Unstructured) {
	t.Helper()
	require.NoError(t, c.resource(obj).Delete(context.Background(), obj.GetName(), metav1.DeleteOptions{}))
}

// pickVersion replaces the version "any" by the one that the server prefers, and reports whether it serves the kind.
func (c *cluster) pickVersion(obj *unstructured.Unstructured) bool {
	gvk := obj.GroupVersionKind()
	if gvk.Version == "any" {
		mapping, err := c.mapper.RESTMapping(gvk.GroupKind())
		if err != nil {
			return false
		}
		obj.SetAPIVersion(mapping.GroupVersionKind.GroupVersion().String())
	}
	return c.resource(obj) != nil
}

// addresses is a client for the cluster IPs in use.
func (c *cluster) addresses() dynamic.ResourceInterface {
	return c.dynamic.Resource(schema.GroupVersionResource{Group: "networking.k8s.io", Version: "v1", Resource: "ipaddresses"})
}
