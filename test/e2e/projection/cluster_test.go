package projection_test

import (
	"context"
	_ "embed"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"sigs.k8s.io/yaml"

	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/projection/openapi"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/test/controlplane"
)

//go:embed testdata/kinds.yaml
var kindsYAML string

//go:embed testdata/definitions.yaml
var definitionsYAML string

//go:embed testdata/resources.yaml
var resourcesYAML string

// The field managers: the one whose fields are found, and another.
const (
	manager = "agreement"
	other   = "another"
)

// cluster is the real API server, with the custom resources of the test and a namespace of its own.
type cluster struct {
	config    *rest.Config
	client    dynamic.Interface
	discovery *discovery.DiscoveryClient
	mapper    *restmapper.DeferredDiscoveryRESTMapper
	schemas   *openapi.Schemas
	planner   *ssaplan.Planner
	namespace string
	// What the test has seen.
	created, told, moved int
}

func newCluster(t *testing.T) *cluster {
	config := controlplane.Shared(t).Config()
	config.QPS, config.WarningHandler = -1, rest.NoWarnings{}
	client, err := dynamic.NewForConfig(config)
	require.NoError(t, err)
	disco, err := discovery.NewDiscoveryClientForConfig(config)
	require.NoError(t, err)
	c := &cluster{
		config: config, client: client, discovery: disco,
		mapper:    restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(disco)),
		namespace: fmt.Sprintf("projection-%d", time.Now().UnixNano()),
	}
	c.planner, err = ssaplan.New(config, ssaplan.Options{FieldManager: manager, DefaultNamespace: c.namespace})
	require.NoError(t, err)
	c.apply(t, object(t, "{apiVersion: v1, kind: Namespace, metadata: {name: "+c.namespace+"}}"), other)
	definitions := c.manifests(t, definitionsYAML)
	for _, definition := range definitions {
		c.apply(t, definition, other)
	}
	c.waitForKinds(t, len(definitions))
	// Only now, so that what it has been told of the custom resources is not out of date.
	c.schemas = openapi.New(disco.OpenAPIV3(), openapi.Options{})
	return c
}

// olderThan reports whether the server is of a lower version.
func (c *cluster) olderThan(t testing.TB, v string) bool {
	server, err := version.ParseSemantic(controlplane.Shared(t).Version())
	require.NoError(t, err)
	return server.LessThan(version.MustParseGeneric(v))
}

func object(t testing.TB, text string) *unstructured.Unstructured {
	data, err := yaml.YAMLToJSON([]byte(text))
	require.NoError(t, err)
	obj := &unstructured.Unstructured{}
	require.NoError(t, json.Unmarshal(data, &obj.Object))
	return obj
}

// manifests reads a list of manifests, and gives those a name that have none.
func (c *cluster) manifests(t testing.TB, text string) []*unstructured.Unstructured {
	list := object(t, "items:\n"+strings.ReplaceAll(text, "$namespace", c.namespace))
	items, _, err := unstructured.NestedSlice(list.Object, "items")
	require.NoError(t, err)
	var out []*unstructured.Unstructured
	for _, item := range items {
		obj := &unstructured.Unstructured{Object: item.(map[string]any)}
		if obj.GetName() == "" {
			obj.SetName("agree")
		}
		out = append(out, obj)
	}
	return out
}

// waitForKinds waits until the custom resources are served and their schemas published.
func (c *cluster) waitForKinds(t testing.TB, n int) {
	err := wait.PollUntilContextTimeout(t.Context(), 100*time.Millisecond, 30*time.Second, true, func(context.Context) (bool, error) {
		c.mapper.Reset()
		resources, err := c.discovery.ServerResourcesForGroupVersion("shapes.example.com/v1")
		if err != nil {
			return false, nil
		}
		served := 0
		for _, r := range resources.APIResources {
			if !strings.Contains(r.Name, "/") {
				served++
			}
		}
		paths, err := c.discovery.OpenAPIV3().Paths()
		return err == nil && served == n && paths["apis/shapes.example.com/v1"] != nil && c.published(paths["apis/shapes.example.com/v1"].Schema("application/json")), nil
	})
	require.NoError(t, err, "the custom resources are not served")
}

// published reports whether the document has the schemas of all kinds; they are published one after the other.
func (c *cluster) published(document []byte, err error) bool {
	for _, kind := range []string{"Sample", "Plain", "Free"} {
		if !strings.Contains(string(document), "com.example.shapes.v1."+kind+`"`) {
			return false
		}
	}
	return err == nil
}

func (c *cluster) resource(t testing.TB, obj *unstructured.Unstructured) dynamic.ResourceInterface {
	gvk := obj.GroupVersionKind()
	mapping, err := c.mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
	require.NoError(t, err)
	if mapping.Scope.Name() != meta.RESTScopeNameNamespace {
		return c.client.Resource(mapping.Resource)
	}
	obj.SetNamespace(c.namespace)
	return c.client.Resource(mapping.Resource).Namespace(c.namespace)
}

// apply applies a manifest and returns the server's answer. With options it may be a dry run.
func (c *cluster) apply(t testing.TB, manifest *unstructured.Unstructured, manager string, dryRun ...string) *unstructured.Unstructured {
	resource := c.resource(t, manifest)
	body, err := json.Marshal(manifest.Object)
	require.NoError(t, err)
	force := true
	answer, err := resource.Patch(t.Context(), manifest.GetName(), types.ApplyPatchType, body,
		metav1.PatchOptions{FieldManager: manager, Force: &force, DryRun: dryRun})
	require.NoError(t, err, "%s %s", manifest.GetKind(), manifest.GetName())
	return answer
}

// live returns the object that a manifest is about, and nil if there is none.
func (c *cluster) live(t testing.TB, manifest *unstructured.Unstructured) *unstructured.Unstructured {
	live, err := c.resource(t, manifest).Get(t.Context(), manifest.GetName(), metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	require.NoError(t, err)
	return live
}

// recorded returns the fields that the server recorded for the manager.
func recorded(t testing.TB, obj *unstructured.Unstructured) projection.FieldSet {
	set, err := projection.Managed(obj.Object, manager)
	require.NoError(t, err)
	return set
}
