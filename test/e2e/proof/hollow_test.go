package proof_test

import (
	"maps"
	"reflect"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// hollow puts null, an empty list or an empty map where a manifest has something, where a donor has something, or
// behind the items of a list. A tame one leaves what the kind requires.
func (g *generator) hollow(m map[string]any, tame bool) any {
	all := slices.Concat(editable(m), editable(g.donor()))
	for _, at := range editable(m) {
		if v, _ := lookup(m, at); isList(v) {
			all = append(all, at.child(len(asList(v))))
		}
	}
	all = slices.DeleteFunc(all, func(p place) bool {
		_, required := lookup(g.kind.Manifests[0], p)
		return tame && (required || g.isNameField(p))
	})
	if roots := slices.DeleteFunc(slices.Clone(all), func(p place) bool { return len(p) > 1 }); len(roots) > 0 && g.chance(20) {
		all = roots
	}
	if len(all) == 0 {
		return m
	}
	at := pick(g, all...)
	v, exists := lookup(m, at)
	if !exists {
		v, _ = lookup(g.donor(), at)
	}
	if g.chance(60) { // which is of the right type
		return put(m, at, pick(g, nil, empty(v)))
	}
	return put(m, at, pick[any](g, nil, []any{}, map[string]any{}))
}

// allHollows are all that cases must have.
var allHollows = []string{
	"null at the root", "null in a map", "null in an item", "null as an item",
	"empty list at the root", "empty list in a map", "empty list in an item", "empty list as an item",
	"empty map at the root", "empty map in a map", "empty map in an item", "empty map as an item",
}

// demandedHollows are those of ours, and demandedHollowWrites the others' writes with one, of which a server must have
// accepted some.
var (
	demandedHollows      = []string{"null at the root", "null in a map", "empty list in a map", "empty map at the root", "empty map in a map"}
	demandedHollowWrites = []string{"hollow apply", "hollow merge", "hollow replace", "hollow create"}
)

// hollowsOf says which nulls, empty lists and empty maps a manifest has, and in which positions.
func hollowsOf(manifest any) []string {
	found := map[string]bool{}
	walk(manifest, nil, func(at place, v any) {
		what := ""
		switch {
		case v == nil:
			what = "null"
		case isScalar(v) || reflect.ValueOf(v).Len() > 0:
			return
		case isList(v):
			what = "empty list"
		default:
			what = "empty map"
		}
		isPosition := func(step any) bool { _, is := step.(int); return is }
		switch {
		case len(at) == 1:
			what += " at the root"
		case isPosition(at[len(at)-1]):
			what += " as an item"
		case slices.ContainsFunc(at, isPosition):
			what += " in an item"
		default:
			what += " in a map"
		}
		found[what] = true
	})
	return slices.Sorted(maps.Keys(found))
}

// TestHollowsOf checks that every position is distinguished.
func TestHollowsOf(t *testing.T) {
	require.Equal(t, []string{"empty list as an item", "empty list at the root", "empty map in a map", "null in an item"},
		hollowsOf(map[string]any{"a": []any{}, "b": map[string]any{"c": map[string]any{}}, "d": []any{[]any{}, map[string]any{"e": nil, "f": "", "g": false}}}))
}
