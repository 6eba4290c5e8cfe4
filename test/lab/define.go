package lab

import (
	"context"
	"encoding/json"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Define applies definitions of custom resources, and waits until the server serves these in all their versions.
func (c *Cluster) Define(t testing.TB, definitions ...*unstructured.Unstructured) {
	t.Helper()
	for _, definition := range definitions {
		c.Apply(t, "definitions", definition)
	}
	for _, definition := range definitions {
		c.WaitServed(t, definedBy(t, definition)...)
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

// WaitServed waits until the server lists the objects of each of the kinds.
func (c *Cluster) WaitServed(t testing.TB, kinds ...schema.GroupVersionKind) {
	t.Helper()
	for _, kind := range kinds {
		Eventually(t, kind.String()+" is served", func() bool { return c.serves(kind) })
	}
}

// WaitPublished waits until the OpenAPI documents of the server have the schemas of what definitions define, which come
// up to a second after the objects are served, and one after the other.
func (c *Cluster) WaitPublished(t testing.TB, definitions ...*unstructured.Unstructured) {
	t.Helper()
	for _, definition := range definitions {
		for _, kind := range definedBy(t, definition) {
			Eventually(t, "the schema of "+kind.String()+" is published", func() bool { return c.publishes(kind) })
		}
	}
}

func (c *Cluster) publishes(kind schema.GroupVersionKind) bool {
	paths, err := c.Discovery.OpenAPIV3().Paths()
	of := paths["apis/"+kind.GroupVersion().String()]
	if err != nil || of == nil {
		return false
	}
	text, err := of.Schema("application/json")
	var document struct {
		Components struct {
			Schemas map[string]struct {
				Kinds []schema.GroupVersionKind `json:"x-kubernetes-group-version-kind"`
			} `json:"schemas"`
		} `json:"components"`
	}
	if err != nil || json.Unmarshal(text, &document) != nil {
		return false
	}
	for _, found := range document.Components.Schemas {
		if slices.Contains(found.Kinds, kind) {
			return true
		}
	}
	return false
}

func (c *Cluster) serves(kind schema.GroupVersionKind) bool {
	resource, known := c.find(kind, "")
	if !known {
		return false
	}
	_, err := resource.List(context.Background(), metav1.ListOptions{Limit: 1})
	return err == nil
}
