package render_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/examples/kubectl-ssaplan/render"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/explain"
)

// The removal of a map or list comes after that of what was in it. A diff shows both.
func TestDiffOfAMapThatGoes(t *testing.T) {
	fields := projection.NewFieldSet(path(t, "data"))
	plan := &ssaplan.Plan{
		Object: object("v1", "ConfigMap", "shop", "web"), Action: ssaplan.ActionUpdate, Reason: "2 edited",
		Explanation: explain.Explanation{
			Before: projection.Project(map[string]any{"data": map[string]any{}}, fields), After: projection.Project(map[string]any{}, fields),
			Changes: []explain.Change{
				change(t, "data.foo", projection.OpRemove, "bar", nil), change(t, "data", projection.OpRemove, map[string]any{}, nil),
			},
		},
	}
	diff, err := render.Text{}.Unified(render.Report{Plans: []*ssaplan.Plan{plan}})
	require.NoError(t, err)
	require.Contains(t, string(diff), "\n-data:\n-  foo: bar\n")
}

// A diff of a replacement has the old object on one side and the new one on the other.
func TestDiffOfAReplacement(t *testing.T) {
	fields := projection.NewFieldSet(path(t, "data.a"))
	side := func(value string) projection.Projection {
		return projection.Project(map[string]any{"data": map[string]any{"a": value}}, fields)
	}
	plan := &ssaplan.Plan{
		Object: object("v1", "ConfigMap", "shop", "new"), Action: ssaplan.ActionReplace, Reason: "the name changed",
		Replacement: &ssaplan.Replacement{Old: object("v1", "ConfigMap", "shop", "old")},
		Explanation: explain.Explanation{
			Before: side("one"), After: side("two"), Changes: []explain.Change{change(t, "data.a", projection.OpChange, "one", "two")},
		},
	}
	diff, err := render.Text{}.Unified(render.Report{Plans: []*ssaplan.Plan{plan}})
	require.NoError(t, err)
	for _, want := range []string{"# Replace: the name changed\n", "\n-  name: old\n", "\n+  name: new\n", "\n-  a: one\n", "\n+  a: two\n"} {
		require.Contains(t, string(diff), want)
	}
}
