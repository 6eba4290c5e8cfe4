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
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/projection/openapi"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/test/cluster"
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

// realCluster is the real API server, with the custom resources of the test and a namespace of its own.
type realCluster struct {
	cluster.Cluster
	schemas *openapi.Schemas
	planner *ssaplan.Planner
	// What the test has seen.
	created, told, moved int
}

func newCluster(t *testing.T) *realCluster {
	config := controlplane.Shared(t).Config()
	config.WarningHandler = rest.NoWarnings{}
	c := &realCluster{Cluster: cluster.Connect(t, config, fmt.Sprintf("projection-%d", time.Now().UnixNano()))}
	var err error
	c.planner, err = ssaplan.New(config, ssaplan.Options{FieldManager: manager, DefaultNamespace: c.Namespace})
	require.NoError(t, err)
	c.apply(t, object(t, "{apiVersion: v1, kind: Namespace, metadata: {name: "+c.Namespace+"}}"), other)
	c.Define(t, c.manifests(t, definitionsYAML)...)
	c.waitForSchemas(t)
	// Only now, so that what it has been told of the custom resources is not out of date.
	c.schemas = openapi.New(c.Discovery.OpenAPIV3(), openapi.Options{})
	return c
}

// olderThan reports whether the server is of a lower version.
func (c *realCluster) olderThan(t testing.TB, v string) bool {
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
func (c *realCluster) manifests(t testing.TB, text string) []*unstructured.Unstructured {
	list := object(t, "items:\n"+strings.ReplaceAll(text, "$namespace", c.Namespace))
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

// waitForSchemas waits until the schemas of the custom resources are published.
func (c *realCluster) waitForSchemas(t testing.TB) {
	err := wait.PollUntilContextTimeout(t.Context(), 100*time.Millisecond, 30*time.Second, true, func(context.Context) (bool, error) {
		paths, err := c.Discovery.OpenAPIV3().Paths()
		if err != nil || paths["apis/shapes.example.com/v1"] == nil {
			return false, nil
		}
		return c.published(paths["apis/shapes.example.com/v1"].Schema("application/json")), nil
	})
	require.NoError(t, err, "the schemas of the custom resources are not published")
}

// published reports whether the document has the schemas of all kinds; they are published one after the other.
func (c *realCluster) published(document []byte, err error) bool {
	for _, kind := range []string{"Sample", "Plain", "Free"} {
		if !strings.Contains(string(document), "com.example.shapes.v1."+kind+`"`) {
			return false
		}
	}
	return err == nil
}

// apply applies a manifest and returns the server's answer. With options it may be a dry run.
func (c *realCluster) apply(t testing.TB, manifest *unstructured.Unstructured, manager string, dryRun ...string) *unstructured.Unstructured {
	force := true
	return c.Apply(t, manifest, metav1.PatchOptions{FieldManager: manager, Force: &force, DryRun: dryRun})
}

// live returns the object that a manifest is about, and nil if there is none.
func (c *realCluster) live(t testing.TB, manifest *unstructured.Unstructured) *unstructured.Unstructured {
	live, err := c.Resource(t, manifest).Get(t.Context(), manifest.GetName(), metav1.GetOptions{})
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
