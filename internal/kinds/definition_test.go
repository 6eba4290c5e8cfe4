package kinds

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestDefinitionOf(t *testing.T) {
	schema := map[string]any{"type": "object"}
	replicas := map[string]any{"scale": map[string]any{"specReplicasPath": ".spec.pool.size"}}
	crd := func(fields map[string]any) map[string]any { return map[string]any{"spec": fields} }
	d := DefinitionOf(crd(map[string]any{
		"group": "example.com", "scope": "Namespaced", "names": map[string]any{"kind": "Gadget", "plural": "gadgets"},
		"conversion": map[string]any{"strategy": "Webhook"},
		"versions": []any{
			"no version", map[string]any{"served": true},
			map[string]any{"name": "v1beta1", "served": false, "schema": map[string]any{"openAPIV3Schema": "none"}},
			map[string]any{"name": "v1", "served": true, "subresources": replicas, "schema": map[string]any{"openAPIV3Schema": schema}},
			map[string]any{"name": "v2", "served": true, "subresources": map[string]any{"scale": map[string]any{}}},
		},
	}))
	assert.Equal(t, Definition{
		Group: "example.com", Kind: "Gadget", Plural: "gadgets", Namespaced: true, Converts: true, Versions: []Version{
			{Name: "v1beta1"}, {Name: "v1", Served: true, Schema: schema, Replicas: []string{"spec", "pool", "size"}}, {Name: "v2", Served: true},
		},
	}, d)
	assert.Equal(t, d.Versions[1], d.Version("v1"))
	assert.Zero(t, d.Version("v3"))
	assert.Equal(t, []string{"v1", "v2"}, d.Served())
	assert.Equal(t, "v1", d.ServedVersion())

	for _, wrong := range []map[string]any{nil, {"spec": "none"}, crd(map[string]any{
		"group": 1.0, "scope": "Cluster", "names": "none", "conversion": map[string]any{"strategy": "None"}, "versions": map[string]any{},
	})} {
		assert.Zero(t, DefinitionOf(wrong))
	}
	assert.Empty(t, Definition{Versions: []Version{{Name: "v1"}}}.ServedVersion())
}

func TestIsDefinition(t *testing.T) {
	for apiVersion, want := range map[string]bool{"apiextensions.k8s.io/v1": true, "apiextensions.k8s.io/v1beta1": true, "example.com/v1": false} {
		assert.Equal(t, want, IsDefinition(map[string]any{"apiVersion": apiVersion, "kind": "CustomResourceDefinition"}), apiVersion)
		assert.False(t, IsDefinition(map[string]any{"apiVersion": apiVersion, "kind": "Gadget"}), apiVersion)
	}
	assert.False(t, IsDefinition(nil))
}

func TestLostVersions(t *testing.T) {
	crd := func(names ...string) map[string]any {
		versions := []any{map[string]any{"served": true}, "no version"}
		for _, name := range names {
			versions = append(versions, map[string]any{"name": name})
		}
		return map[string]any{"spec": map[string]any{"group": "example.com", "versions": versions}}
	}
	assert.Equal(t, []string{"example.com/v1beta1"}, LostVersions(crd("v1beta1", "v1"), crd("v1", "v2")))
	assert.Empty(t, LostVersions(crd("v1"), crd("v1")))
	assert.Empty(t, LostVersions(nil, crd("v1")))
}
