// Package cluster gives tests access to the objects of any kind in a cluster, and installs the kinds that they define.
package cluster

import (
	"cmp"
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
)

// Cluster is a client, and what it needs to find the objects of a kind.
type Cluster struct {
	Client dynamic.Interface
	Mapper meta.RESTMapper
	// Discovery is nil for what only stands in for a server.
	Discovery discovery.DiscoveryInterface
	// Namespace is where objects are that name none, if their kind has namespaces.
	Namespace string
}

// Connect returns access to the server that config leads to.
func Connect(t testing.TB, config *rest.Config, namespace string) Cluster {
	t.Helper()
	client, err := dynamic.NewForConfig(config)
	require.NoError(t, err)
	disco, err := discovery.NewDiscoveryClientForConfig(config)
	require.NoError(t, err)
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(disco))
	return Cluster{client, mapper, disco, namespace}
}

// Resource returns access to the objects of obj's kind, in the namespace of obj.
func (c Cluster) Resource(t testing.TB, obj *unstructured.Unstructured) dynamic.ResourceInterface {
	t.Helper()
	resource, err := c.resource(obj.GroupVersionKind(), obj.GetNamespace())
	require.NoError(t, err)
	return resource
}

func (c Cluster) resource(kind schema.GroupVersionKind, namespace string) (dynamic.ResourceInterface, error) {
	mapping, err := c.Mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if err != nil {
		return nil, err
	}
	if mapping.Scope.Name() == meta.RESTScopeNameRoot {
		return c.Client.Resource(mapping.Resource), nil
	}
	return c.Client.Resource(mapping.Resource).Namespace(cmp.Or(namespace, c.Namespace)), nil
}

// Apply applies a manifest and returns the server's answer.
func (c Cluster) Apply(t testing.TB, manifest *unstructured.Unstructured, options metav1.PatchOptions) *unstructured.Unstructured {
	t.Helper()
	body, err := manifest.MarshalJSON()
	require.NoError(t, err)
	answer, err := c.Resource(t, manifest).Patch(t.Context(), manifest.GetName(), types.ApplyPatchType, body, options)
	require.NoError(t, err, "%s %s", manifest.GetKind(), manifest.GetName())
	return answer
}

// Define applies definitions of custom resources, and waits until the server serves these in all their versions.
func (c Cluster) Define(t testing.TB, definitions ...*unstructured.Unstructured) {
	t.Helper()
	for _, definition := range definitions {
		c.Apply(t, definition, metav1.PatchOptions{FieldManager: "definitions"})
	}
	for _, definition := range definitions {
		for _, kind := range definedBy(t, definition) {
			c.waitServed(t, kind)
		}
	}
}

// definedBy returns the kind in each of the versions that a definition has served.
func definedBy(t testing.TB, definition *unstructured.Unstructured) (kinds []schema.GroupVersionKind) {
	t.Helper()
	group, _, err := unstructured.NestedString(definition.Object, "spec", "group")
	require.NoError(t, err)
	kind, _, err := unstructured.NestedString(definition.Object, "spec", "names", "kind")
	require.NoError(t, err)
	versions, _, err := unstructured.NestedSlice(definition.Object, "spec", "versions")
	require.NoError(t, err)
	for _, v := range versions {
		if version, _ := v.(map[string]any); version["served"] == true {
			kinds = append(kinds, schema.GroupVersionKind{Group: group, Version: version["name"].(string), Kind: kind})
		}
	}
	require.NotEmpty(t, kinds, "%s defines no kind", definition.GetName())
	return kinds
}

func (c Cluster) waitServed(t testing.TB, kind schema.GroupVersionKind) {
	t.Helper()
	err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		meta.MaybeResetRESTMapper(c.Mapper)
		resource, err := c.resource(kind, "")
		if err == nil {
			_, err = resource.List(ctx, metav1.ListOptions{Limit: 1})
		}
		return err == nil, nil
	})
	require.NoError(t, err, "%s is not served", kind)
}
