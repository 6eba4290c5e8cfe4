// Package projection_test checks package projection against the real API server. Package projection has several ways to
// find the fields that a manifest declares. For every kind that can be created, each of them must find the fields that
// the server records when it applies the manifest.
package projection_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/projection/builtin"
)

func TestSourcesAgreeWithTheServer(t *testing.T) {
	c := newCluster(t)
	manifests := append(c.manifests(t, kindsYAML), c.manifests(t, resourcesYAML)...)
	served := c.creatableKinds(t)
	agreeing, kinds := map[string]bool{}, map[string]bool{}
	for _, manifest := range manifests {
		kind := manifest.GetAPIVersion() + " " + manifest.GetKind()
		if !slices.Contains(served, kind) {
			t.Logf("this server does not serve %s", kind)
			continue
		}
		t.Cleanup(func() { c.leave(t, manifest) })
		agreed := t.Run(kind+" "+manifest.GetName(), func(t *testing.T) { c.checkKind(t, manifest) })
		agreeing[kind] = agreed && (agreeing[kind] || !kinds[kind])
		kinds[kind] = true
	}
	count := 0
	for _, agreed := range agreeing {
		if agreed {
			count++
		}
	}
	t.Run("bytes", c.checkBytes)
	t.Run("not kept", c.testNotKept)
	t.Run("normalized", c.testNormalize)
	fmt.Printf("kinds agreeing: %d/%d\n", count, len(served))
	fmt.Printf("manifests of which the object that another manager created tells all: %d/%d\n", c.told, c.created)
	assert.Greater(t, c.told, 10)
	for _, kind := range served {
		assert.True(t, kinds[kind], "there is no manifest of %s in testdata", kind)
	}
}

// leave deletes an object that is in no namespace of the test's own, so that another run of the test doesn't find it.
func (c *realCluster) leave(t *testing.T, manifest *unstructured.Unstructured) {
	kind := manifest.GroupVersionKind()
	mapping, err := c.Mapper.RESTMapping(kind.GroupKind(), kind.Version)
	require.NoError(t, err)
	if mapping.Scope.Name() == meta.RESTScopeNameRoot && kind.Kind != "Namespace" && c.Lookup(t, manifest) != nil {
		c.Delete(t, manifest)
	}
}

// creatableKinds returns every kind, in every version, that the server lets one create and apply.
func (c *realCluster) creatableKinds(t *testing.T) []string {
	_, lists, err := c.Discovery.ServerGroupsAndResources()
	require.NoError(t, err)
	var out []string
	for _, list := range lists {
		for _, r := range discovery.FilteredBy(discovery.SupportsAllVerbs{Verbs: []string{"create", "patch", "get"}}, []*metav1.APIResourceList{list}) {
			for _, resource := range r.APIResources {
				if !strings.Contains(resource.Name, "/") {
					out = append(out, list.GroupVersion+" "+resource.Kind)
				}
			}
		}
	}
	slices.Sort(out)
	return out
}

// checkKind applies the manifest, then with a status.
func (c *realCluster) checkKind(t *testing.T, manifest *unstructured.Unstructured) {
	c.checkApply(t, manifest)
	c.checkKept(t, manifest)
	c.checkTopology(t, manifest)
	c.checkStatus(t, manifest)
}

// checkStatus applies the manifest with a status, if the kind has that field and the manifest doesn't.
func (c *realCluster) checkStatus(t *testing.T, manifest *unstructured.Unstructured) {
	if manifest.Object["status"] != nil || manifest.GetKind() == "ServiceCIDR" && c.olderThan(t, "v1.36") {
		return // the latter took the status for a field like any other
	}
	withStatus := manifest.DeepCopy()
	withStatus.Object["status"] = map[string]any{}
	if _, err := c.schemas.Declared(t.Context(), withStatus.Object); err != nil {
		return
	}
	if manifest.GetKind() == "Sample" { // only this write shows whether its status is a subresource
		c.Patch(t, other, manifest, `{"status": {"seen": true}}`, "status")
	}
	c.checkApply(t, withStatus)
}

// checkApply compares what every source says with what the server records in a dry run, and then when it applies the
// manifest.
func (c *realCluster) checkApply(t *testing.T, manifest *unstructured.Unstructured) {
	dryRun, err := c.dryRun(t, manifest)
	require.NoError(t, err)
	applied := c.Apply(t, manager, manifest)
	real := recorded(t, applied)
	require.Equal(t, real.String(), recorded(t, dryRun).String(), "the dry run")

	fields, err := c.schemas.Declared(t.Context(), manifest.Object)
	require.NoError(t, err)
	assert.Equal(t, real.String(), fields.String(), "the schema that the server publishes")

	fields, err = builtin.Schema{}.Declared(t.Context(), manifest.Object)
	switch {
	case manifest.GetKind() == "CSINode" && manifest.Object["status"] != nil: // which servers have since 1.37, and this client-go hasn't
		assert.ErrorIs(t, err, projection.ErrNoSchema)
		assert.ErrorContains(t, err, ".status: field not declared in schema")
	case scheme.Scheme.Recognizes(manifest.GroupVersionKind()):
		require.NoError(t, err)
		assert.Equal(t, real.String(), fields.String(), "the built-in schema")
	default:
		assert.ErrorIs(t, err, projection.ErrNoSchema)
	}

	topology, err := projection.LearnSchema(applied.Object)
	require.NoError(t, err)
	if fields, err = topology.Declared(t.Context(), manifest.Object); !real.Empty() {
		require.NoError(t, err)
		assert.Equal(t, real.String(), fields.String(), "the topology of the live object")
	}
}
