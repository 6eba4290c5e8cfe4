package objectset_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/ssaplan/internal/objectset"
)

func TestCreated(t *testing.T) {
	gadgets := definition("ex.io", "Gadget", "gadgets.ex.io")
	gadgets["spec"].(map[string]any)["versions"] = []any{
		"no version", map[string]any{"name": "v1beta1", "served": false}, map[string]any{"name": "v1", "served": true}, map[string]any{"name": "v2", "served": true},
	}
	var created objectset.Created
	require.Empty(t, slices.Concat(created.Namespaces(), created.Kinds()))
	require.Empty(t, created.Needs(identity.Identity{}))
	for i, manifest := range []map[string]any{
		object("v1", "ConfigMap", "none"), gadgets, object("v1", "Namespace", "shop"), object("v1", "Namespace", "web"),
		definition("ex.io", "Unnamed", ""),
	} {
		created.Add(i, manifest)
	}
	gadget := func(version, namespace string) identity.Identity {
		return identity.Identity{APIVersion: "ex.io/" + version, Kind: "Gadget", Namespace: namespace, Name: "a"}
	}
	for version, want := range map[string]bool{"v1": true, "v2": true, "v1beta1": false, "v3": false} {
		number, ok := created.Serves(gadget(version, ""))
		require.Equal(t, want, ok, version)
		require.Equal(t, 1, number, version)
		require.Equal(t, "; CustomResourceDefinition gadgets.ex.io of the same set defines it", created.Defines(gadget(version, "")), version)
		require.Equal(t, []int{1, 2}, created.Needs(gadget(version, "shop")), version)
		require.Equal(t, []int{1}, created.Needs(gadget(version, "other")), version)
	}
	unnamed := identity.Identity{APIVersion: "ex.io/v1", Kind: "Unnamed", Name: "a"}
	require.Empty(t, created.Defines(unnamed), "its name isn't known yet")
	require.Equal(t, []int{4}, created.Needs(unnamed))
	_, ok := created.Serves(unnamed)
	require.False(t, ok)

	number, ok := created.Namespace("web")
	require.True(t, ok)
	require.Equal(t, 3, number)
	_, ok = created.Namespace("none")
	require.False(t, ok)
	require.ElementsMatch(t, []string{"shop", "web"}, created.Namespaces())
	require.ElementsMatch(t, []string{"ex.io/v1 Gadget", "ex.io/v2 Gadget"}, created.Kinds())
}

// A definition with a name that no server takes can't act upon a terminal.
func TestDefinesEscapesNames(t *testing.T) {
	var created objectset.Created
	created.Add(0, definition("ex.io", "Widget", "widgets\x1b.ex.io"))
	require.NotContains(t, created.Defines(identity.Identity{APIVersion: "ex.io/v1", Kind: "Widget", Name: "a"}), "\x1b")
}
