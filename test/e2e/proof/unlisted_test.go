package proof_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/ssaplan/explain"
	"github.com/ssaplan/primitives/test/lab"
)

// TestUnlistedChanges checks that the judge sees what a plan leaves out.
func TestUnlistedChanges(t *testing.T) {
	const one = "{spec: {items: [{name: a}]}}"
	for _, row := range []struct {
		why                   string
		before, after, filled string
		changes               []explain.Change
		unlisted              []string
	}{
		{"an item that goes has a value that its change hasn't", "{spec: {items: [{name: a}, {name: b, env: x}]}}", one, one,
			[]explain.Change{change(t, `spec.items[name="b"]`, projection.OpRemove, "{name: b}")},
			[]string{`/spec/items: [{"name":"a"},{"env":"x"}] -> [{"name":"a"}]`}},
		{"its change has the value", "{spec: {items: [{name: a}, {name: b, env: x}]}}", one, one,
			[]explain.Change{change(t, `spec.items[name="b"]`, projection.OpRemove, "{name: b, env: x}")}, nil},
		{"the value has a change of its own", "{spec: {items: [{name: a}, {name: b, env: {x: y}}]}}", one, one,
			[]explain.Change{
				change(t, `spec.items[name="b"]`, projection.OpRemove, "{name: b, env: {}}"),
				change(t, `spec.items[name="b"].env.x`, projection.OpRemove, "y"),
			}, nil},
		{"an item that comes has a value that nobody announced", one, "{spec: {items: [{name: a}, {name: b, env: x}]}}",
			"{spec: {items: [{name: a}, {name: b}]}}",
			[]explain.Change{change(t, `spec.items[name="b"]`, projection.OpAdd, "{name: b}")},
			[]string{`/spec/items: [{"name":"a"}] -> [{"name":"a"},{"env":"x"}]`}},
		{"the value is a side effect", one, "{spec: {items: [{name: a}, {name: b, env: x}]}}",
			"{spec: {items: [{name: a}, {name: b}]}}",
			[]explain.Change{
				change(t, `spec.items[name="b"]`, projection.OpAdd, "{name: b}"),
				change(t, `spec.items[name="b"].env`, projection.OpAdd, "x"),
			}, nil},
		{"the value is a side effect in a map of its own, beside a list of items", one,
			"{spec: {items: [{name: a}, {name: b, env: {deep: x}, in: [{name: c, n: 1}, {name: d, n: 1}]}]}}",
			"{spec: {items: [{name: a}, {name: b, in: [{name: c, n: 1}, {name: d, n: 1}]}]}}",
			[]explain.Change{
				change(t, `spec.items[name="b"]`, projection.OpAdd, "{name: b, in: [{name: c}, {name: d}]}"),
				change(t, `spec.items[name="b"].env.deep`, projection.OpAdd, "x"),
				change(t, `spec.items[name="b"].in[name="d"].n`, projection.OpAdd, "1"),
			}, nil},
		{"the value is a default", one,
			"{spec: {items: [{name: a}, {name: b, env: x}]}}", "{spec: {items: [{name: a}, {name: b, env: x}]}}",
			[]explain.Change{change(t, `spec.items[name="b"]`, projection.OpAdd, "{name: b}")}, nil},
		{"another value stands in the place of a default", one, "{spec: {items: [{name: a}, {name: b, in: [{env: x}]}]}}",
			"{spec: {items: [{name: a}, {name: b, in: [{env: y}]}]}}",
			[]explain.Change{change(t, `spec.items[name="b"]`, projection.OpAdd, "{name: b}")},
			[]string{`/spec/items: [{"name":"a"}] -> [{"name":"a"},{"in":[{"env":"x"}]}]`}},
		{"an item that nobody lists", one, "{spec: {items: [{name: a}, {name: b}]}}", one, nil,
			[]string{`/spec/items: [{"name":"a"}] -> [{"name":"a"},{"name":"b"}]`}},
		{"a map takes the place of null", "{spec: {map: null}}", "{spec: {map: {a: b}}}", "{}",
			[]explain.Change{change(t, "spec.map.a", projection.OpAdd, "b")}, nil},
		{"a map takes the place of a value", "{spec: {map: 7}}", "{spec: {map: {a: b}}}", "{}",
			[]explain.Change{change(t, "spec.map.a", projection.OpAdd, "b")}, []string{"/spec/map: 7 -> {}"}},
	} {
		before, after, filled := lab.Object(t, row.before).Object, lab.Object(t, row.after).Object, lab.Object(t, row.filled).Object
		require.Equal(t, row.unlisted, unlistedChanges(before, after, row.changes, filled), row.why)
	}
}

func change(t *testing.T, at string, op projection.Op, value string) explain.Change {
	path, err := projection.ParsePath(at)
	require.NoError(t, err)
	c := explain.Change{Difference: projection.Difference{Path: path, Op: op}}
	v := lab.Object(t, "{v: "+value+"}").Object["v"]
	if op == projection.OpRemove {
		c.Before = v
	} else {
		c.After = v
	}
	return c
}
