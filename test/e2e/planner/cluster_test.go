package planner_test

import (
	"context"
	_ "embed"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"sigs.k8s.io/yaml"

	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/test/controlplane"
)

//go:embed testdata/widget-crd.yaml
var widgetCRD []byte

// cluster is the real API server with the custom resources of the scenarios, and a namespace of the test's own.
type cluster struct {
	client    dynamic.Interface
	mapper    meta.RESTMapper
	planner   *ssaplan.Planner
	namespace string
}

func newCluster(t *testing.T) *cluster { return clusterOf(t, controlplane.Shared(t).Config()) }

func clusterOf(t *testing.T, config *rest.Config) *cluster {
	client, err := dynamic.NewForConfig(config)
	require.NoError(t, err)
	disco, err := discovery.NewDiscoveryClientForConfig(config)
	require.NoError(t, err)
	c := &cluster{
		client:    client,
		mapper:    restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(disco)),
		namespace: fmt.Sprintf("e2e-%d", time.Now().UnixNano()),
	}
	c.planner, err = ssaplan.New(config, ssaplan.Options{FieldManager: manager, DefaultNamespace: c.namespace})
	require.NoError(t, err)
	c.install(t, widgetCRD)
	c.install(t, []byte("{apiVersion: v1, kind: Namespace, metadata: {name: "+c.namespace+"}}"))
	c.waitServed(t, "example.com/v1", "Widget")
	return c
}

// install applies a manifest as another manager than the one under test.
func (c *cluster) install(t *testing.T, text []byte) *unstructured.Unstructured {
	obj := &unstructured.Unstructured{}
	require.NoError(t, yaml.Unmarshal(text, &obj.Object))
	body, err := obj.MarshalJSON()
	require.NoError(t, err)
	installed, err := c.resource(t, obj).Patch(t.Context(), obj.GetName(), types.ApplyPatchType, body, metav1.PatchOptions{FieldManager: "installer"})
	require.NoError(t, err)
	return installed
}

func (c *cluster) waitServed(t *testing.T, apiVersion, kind string) {
	obj := &unstructured.Unstructured{}
	obj.SetAPIVersion(apiVersion)
	obj.SetKind(kind)
	err := wait.PollUntilContextTimeout(t.Context(), 100*time.Millisecond, 30*time.Second, true, func(ctx context.Context) (bool, error) {
		c.mapper.(meta.ResettableRESTMapper).Reset()
		if _, err := c.mapping(obj); err != nil {
			return false, nil
		}
		_, err := c.resource(t, obj).List(ctx, metav1.ListOptions{})
		return err == nil, nil
	})
	require.NoError(t, err, "%s %s is not served", apiVersion, kind)
}

func (c *cluster) mapping(obj *unstructured.Unstructured) (*meta.RESTMapping, error) {
	gvk := obj.GroupVersionKind()
	return c.mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
}

func (c *cluster) resource(t *testing.T, obj *unstructured.Unstructured) dynamic.ResourceInterface {
	mapping, err := c.mapping(obj)
	require.NoError(t, err)
	if mapping.Scope.Name() == meta.RESTScopeNameRoot {
		return c.client.Resource(mapping.Resource)
	}
	return c.client.Resource(mapping.Resource).Namespace(c.namespace)
}

// object gives access to the object that the manifest names. It doesn't exist yet.
func (c *cluster) object(t *testing.T, manifest *unstructured.Unstructured) *object {
	return &object{planner: c.planner, resource: c.resource(t, manifest), name: manifest.GetName()}
}
