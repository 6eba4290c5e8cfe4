package explain

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/projection"
)

// TestNothingGoesThatIsPartOfWhatComes checks what counts as a value that stays when the server puts another in its
// place.
func TestNothingGoesThatIsPartOfWhatComes(t *testing.T) {
	m := func(pairs ...any) map[string]any {
		out := map[string]any{}
		for i := 0; i < len(pairs); i += 2 {
			out[pairs[i].(string)] = pairs[i+1]
		}
		return out
	}
	for _, row := range []struct {
		why         string
		part, whole any
		want        bool
	}{
		{"an empty map that is filled", m(), m("a", "x"), true},
		{"a map that gets more", m("a", "x"), m("a", "x", "b", "y"), true},
		{"a field is gone", m("a", "x", "b", "y"), m("a", "x"), false},
		{"a field has another value", m("a", "x"), m("a", "y"), false},
		{"a map in it that is filled", m("a", m()), m("a", m("b", "y")), true},
		{"a map in it that loses a field", m("a", m("b", "y")), m("a", m()), false},
		{"null in the place of a map", m(), nil, false},
		{"the same text", "x", "x", true},
		{"another text", "x", "y", false},
		{"a list is a value", []any{"x"}, []any{"x", "y"}, false},
	} {
		require.Equal(t, row.want, isPart(row.part, row.whole), row.why)
	}
}

// TestBaselineLacksWhatStays checks what of remembered values a host compares with those after an apply.
func TestBaselineLacksWhatStays(t *testing.T) {
	fields := func(texts ...string) projection.FieldSet {
		var paths []projection.Path
		for _, text := range texts {
			p, err := projection.ParsePath(text)
			require.NoError(t, err)
			paths = append(paths, p)
		}
		return projection.NewFieldSet(paths...)
	}
	remembered := map[string]any{"a": map[string]any{"b": "x", "m": map[string]any{}}, "list": []any{"y"},
		"items": []any{map[string]any{"name": "p", "w": "x"}}}
	dropped := func(at string, fate fieldowner.Fate, value any) fieldowner.DroppedField {
		p, err := projection.ParsePath(at)
		require.NoError(t, err)
		return fieldowner.DroppedField{Path: p, Fate: fate, Value: value}
	}
	for _, row := range []struct {
		why             string
		observed, after projection.FieldSet
		dropped         []fieldowner.DroppedField
		want            projection.FieldSet
	}{
		{"nothing is dropped", fields("a.b", "list"), fields("a.b", "list"), nil, fields("a.b", "list")},
		{"others retain it", fields("a.b", "list"), fields("list"), []fieldowner.DroppedField{dropped("a.b", fieldowner.FateRetained, nil)}, fields("list")},
		{"and the map around it stays", fields("a", "a.b", "list"), fields("list"),
			[]fieldowner.DroppedField{dropped("a.b", fieldowner.FateRetained, nil)}, fields("list")},
		{"and so does the item around it", fields(`items[name="p"]`, `items[name="p"].w`, "list"), fields("list"),
			[]fieldowner.DroppedField{dropped(`items[name="p"].w`, fieldowner.FateRetained, nil)}, fields("list")},
		{"the server puts the same there", fields("a.b", "list"), fields("list"), []fieldowner.DroppedField{dropped("a.b", fieldowner.FateReset, "x")}, fields("list")},
		{"the server puts something else there", fields("a.b"), fields(), []fieldowner.DroppedField{dropped("a.b", fieldowner.FateReset, "z")}, fields("a.b")},
		{"the server fills an empty map", fields("a.m", "list"), fields("list"),
			[]fieldowner.DroppedField{dropped("a.m", fieldowner.FateReset, map[string]any{"k": "v"})}, fields("list")},
		{"it is deleted", fields("a.b"), fields(), []fieldowner.DroppedField{dropped("a.b", fieldowner.FateDeleted, nil)}, fields("a.b")},
		{"a map of which the manifest declares a part", fields("a", "a.b", "a.m"), fields("a.b"), nil, fields("a.b", "a.m")},
		{"a map that the manifest declares, too", fields("a", "a.b"), fields("a", "a.b"), nil, fields("a", "a.b")},
		{"a list as a whole, of which the manifest declares an item", fields("list"), fields(`list[="y"]`), nil, fields("list")},
	} {
		state := &State{Observed: projection.Project(remembered, row.observed), sensitive: fields("secret")}
		state.Observed.Sensitive = fields("a.b")
		baseline := (&Explanation{After: projection.Projection{Fields: row.after}, Dropped: row.dropped}).baseline(state)
		require.True(t, baseline.Fields.Equal(row.want), "%s: %s", row.why, baseline.Fields)
		require.Equal(t, fields("a.b"), baseline.Sensitive, row.why)
	}
}

// TestBaselineLacksWhatTheServerPicks checks that a field that is left to the server isn't shown as removed.
func TestBaselineLacksWhatTheServerPicks(t *testing.T) {
	ip := projection.Path{projection.Field("spec"), projection.Field("clusterIP")}
	observed := projection.Project(map[string]any{"spec": map[string]any{"clusterIP": "10.0.0.1"}}, projection.NewFieldSet(ip))
	require.True(t, (&Explanation{Assigned: []projection.Path{ip}}).baseline(&State{Observed: observed}).Fields.Empty())
}
