package projection_test

import (
	_ "embed"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/version"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/internal/goroutines"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/projection/openapi"
	"github.com/ssaplan/primitives/test/lab"
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
	*lab.Cluster
	schemas *openapi.Schemas
	// What the test has seen.
	created, told int
}

func TestMain(m *testing.M) { goroutines.Main(m) }

func newCluster(t *testing.T) *realCluster {
	c := &realCluster{Cluster: lab.New(t)}
	definitions := c.manifests(t, definitionsYAML)
	c.Define(t, definitions...)
	c.WaitPublished(t, definitions...)
	// Create the source after the CRDs are published, so that it has no outdated schemas of the custom resources.
	c.schemas = openapi.New(c.Discovery.OpenAPIV3(), openapi.Options{})
	return c
}

// olderThan reports whether the server is of a lower version.
func (c *realCluster) olderThan(t testing.TB, v string) bool {
	server, err := version.ParseSemantic(c.Server.Version())
	require.NoError(t, err)
	return server.LessThan(version.MustParseGeneric(v))
}

// manifests reads a list of manifests, and gives those a name that have none.
func (c *realCluster) manifests(t testing.TB, text string) []*unstructured.Unstructured {
	list := lab.Object(t, "items:\n"+strings.ReplaceAll(text, "$namespace", c.Namespace))
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

// dryRun has the server try to apply a manifest.
func (c *realCluster) dryRun(t testing.TB, manifest *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	force := true
	return c.TryApply(t, manifest, metav1.PatchOptions{FieldManager: manager, Force: &force, DryRun: []string{metav1.DryRunAll}})
}

// recorded returns the fields that the server recorded for the manager.
func recorded(t testing.TB, obj *unstructured.Unstructured) projection.FieldSet {
	owners, err := fieldowner.Read(obj.Object)
	require.NoError(t, err)
	return owners.Fields(fieldowner.Applier{Manager: manager}.Is)
}
