package projection_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/projection"
)

// A set names items as records of today do, whatever keys a list had when it was recorded.
func TestRenamed(t *testing.T) {
	obj := map[string]any{"spec": map[string]any{"list": []any{
		map[string]any{"name": "a", "id": int64(1)}, map[string]any{"name": "b", "id": int64(1)}, map[string]any{"name": "b", "id": int64(2)},
	}}}
	short := map[string]any{"spec": map[string]any{"list": []any{map[string]any{"name": "c"}, map[string]any{"name": "c", "value": int64(2)}}}}
	for _, row := range []struct {
		why     string
		obj     map[string]any
		current []string
		was, is []string
	}{
		{"a key more", obj, []string{`spec.list[id=1,name="a"]`},
			[]string{`spec.list[name="a"]`, `spec.list[name="a"].name`, `spec.list[name="b"]`, "spec.other"},
			[]string{`spec.list[id=1,name="a"]`, `spec.list[id=1,name="a"].name`, `spec.list[id=1,name="b"]`, "spec.other"}},
		{"a key less", obj, []string{`spec.list[name="a"]`},
			[]string{`spec.list[id=1,name="a"].id`, `spec.list[id=2,name="b"].id`},
			[]string{`spec.list[name="a"].id`, `spec.list[name="b"].id`}},
		{"a key less that the items don't have any more", short, []string{`spec.list[name="c"]`},
			[]string{`spec.list[id=1,name="c"]`, `spec.list[id=2,name="c"].value`},
			[]string{`spec.list[name="c"]`, `spec.list[name="c"].value`}},
		{"an item that isn't there", obj, []string{`spec.list[id=1,name="a"]`}, []string{`spec.list[name="x"].name`, "spec.other"}, []string{"spec.other"}},
		{"another key", obj, []string{`spec.list[id=1]`}, []string{`spec.list[name="a"].name`}, []string{`spec.list[id=1].name`}},
	} {
		was := set(row.was...)
		got := was.Renamed(set(row.current...), row.obj)
		require.Equal(t, set(row.is...).String(), got.String(), row.why)
		require.False(t, got.Same(was), row.why)
	}
	same := set(`spec.list[name="a"].name`, `spec.more[id=1]`)
	for _, current := range []projection.FieldSet{{}, same, set(`spec.list[name="z"].value`, "spec.other")} {
		require.True(t, same.Renamed(current, obj).Same(same), "nothing has another name")
	}
}
