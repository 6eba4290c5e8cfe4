package render_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/examples/kubectl-ssaplan/render"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/projection/foreign"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/explain"
)

// fields returns the versions of a definition with n fields whose descriptions have a word, and one field with a limit.
func fields(n int, word string, limit int) any {
	properties := map[string]any{}
	for i := range n {
		description := fmt.Sprint(word, i%7)
		properties[fmt.Sprint("field", i)] = map[string]any{"type": "string", "description": description, "maxLength": int64(63)}
	}
	properties["limited"] = map[string]any{"type": "string", "maxLength": int64(limit)}
	return []any{map[string]any{"name": "v1", "served": true, "storage": true, "schema": map[string]any{
		"openAPIV3Schema": map[string]any{"type": "object", "properties": properties},
	}}}
}

// decoded returns the changes of the only plan in the JSON of a report, and the size of the JSON.
func decoded(t *testing.T, r render.Report) (changes []explain.Change, size int) {
	t.Helper()
	text, err := r.JSON()
	require.NoError(t, err)
	var report struct{ Plans []*ssaplan.Plan }
	require.NoError(t, json.Unmarshal(text, &report))
	require.Len(t, report.Plans, 1)
	return report.Plans[0].Changes, len(text)
}

// A definition isn't in the JSON twice, and not even once, for a limit that changes.
func TestJSONOfLargeValues(t *testing.T) {
	plans := textPlan(t, fields(1000, "a", 8), fields(1000, "a", 9))
	changes, size := decoded(t, render.Report{Plans: plans})
	assert.Less(t, size, 2000)
	require.Len(t, changes, 1)
	assert.Equal(t, "data.text[0].schema.openAPIV3Schema.properties.limited.maxLength: 8 -> 9", changes[0].String())
	assert.Len(t, plans[0].Changes[0].Path, 2, "the plan stays as it is")

	whole, _ := decoded(t, render.Report{Plans: plans, Whole: true})
	require.Len(t, whole, 1)
	assert.Equal(t, "data.text", whole[0].Path.String())
	assert.Equal(t, fields(1000, "a", 9), whole[0].After)
}

// applied returns a text with the changes of lines that the JSON report lists.
func applied(t *testing.T, before string, changes []explain.Change) string {
	lines := strings.SplitAfter(before, "\n")
	var after []string
	i := 0
	keep := func(n int) {
		after = append(after, lines[i:i+n]...)
		i += n
	}
	for _, c := range changes {
		place, err := strconv.Atoi(strings.Trim(c.Path[len(c.Path)-1:].String(), "[]"))
		require.NoError(t, err)
		if c.Op == projection.OpRemove {
			keep(place - i)
		} else {
			keep(place - len(after))
		}
		if c.Op != projection.OpAdd {
			removed := slices.Collect(strings.Lines(c.Before.(string)))
			require.Equal(t, removed, lines[i:i+len(removed)])
			i += len(removed)
		}
		if c.Op != projection.OpRemove {
			after = slices.AppendSeq(after, strings.Lines(c.After.(string)))
		}
	}
	keep(len(lines) - i)
	return strings.Join(after, "")
}

// Of a large text JSON has the lines that differ, which together with the text before say all of the text after.
func TestJSONOfTexts(t *testing.T) {
	text := strings.Join(lines(1000, 1000, 1), "\n")
	edit := func(from, to int, by ...string) string {
		all := strings.Split(text, "\n")
		return strings.Join(slices.Replace(all, from, to, by...), "\n")
	}
	for why, after := range map[string]string{
		"a line that is another": edit(500, 501, "x"), "lines that come": edit(0, 0, "x", "y"), "lines that go": edit(10, 20),
		"lines for others": edit(10, 12, "x", "y", "z"), "the end of the last line": text + "\n", "no line is left": "", "lines behind the last": text + "\nx\n",
	} {
		plans := textPlan(t, text, after)
		changes, size := decoded(t, render.Report{Plans: plans})
		if why == "no line is left" {
			assert.Equal(t, plans[0].Changes[0].After, changes[0].After, why)
			continue
		}
		assert.Less(t, size, 1000, why)
		assert.Equal(t, after, applied(t, text, changes), "%s: %v", why, changes)
	}
}

// Unchanged objects are named by kind and namespace; those of which there is more to say are plans, and verbosely all
// are.
func TestJSONOfUnchangedObjects(t *testing.T) {
	noOp := func(kind, namespace, name string) *ssaplan.Plan {
		return &ssaplan.Plan{Object: object("v1", kind, namespace, name), Action: ssaplan.ActionNoOp, Reason: "the server would write nothing",
			Requests: 2, Explanation: explain.Explanation{NoOp: true}}
	}
	warned := noOp("Secret", "shop", "w")
	warned.Warnings = []foreign.Text{"deprecated"}
	part := noOp("Secret", "shop", "s")
	part.Subresource = "status"
	plans := append(textPlan(t, "a", "b"), noOp("ConfigMap", "shop", "a"), warned, noOp("ConfigMap", "shop", "b"), part, noOp("Namespace", "", "shop"))
	report := render.Report{Plans: plans, Stages: []render.StageOf{{Name: "one", Plans: 3}, {Name: "two", Plans: 2}, {Name: "three", Plans: 1}}}
	text, err := report.JSON()
	require.NoError(t, err)
	assert.Equal(t, 11, strings.Count(string(text), "\n"), "%s", text)
	var got struct {
		Plans     []*ssaplan.Plan
		Unchanged json.RawMessage
		Stages    json.RawMessage
	}
	require.NoError(t, json.Unmarshal(text, &got))
	require.Len(t, got.Plans, 3)
	assert.JSONEq(t, `{"":{"v1/Namespace":["shop"]},"shop":{"v1/ConfigMap":["a","b"]}}`, string(got.Unchanged))
	assert.JSONEq(t, `[{"name":"one","plans":2},{"name":"two","plans":1}]`, string(got.Stages))

	report.Whole = true
	text, err = report.JSON()
	require.NoError(t, err)
	got.Unchanged = nil // which is left out
	require.NoError(t, json.Unmarshal(text, &got))
	assert.Len(t, got.Plans, 6)
	assert.Empty(t, got.Unchanged)
	assert.JSONEq(t, `[{"name":"one","plans":3},{"name":"two","plans":2},{"name":"three","plans":1}]`, string(got.Stages))

	asLines, err := report.Lines()
	require.NoError(t, err)
	for line := range strings.Lines(string(asLines)) {
		require.NoError(t, json.Unmarshal([]byte(line), &ssaplan.Plan{}))
	}
	assert.Equal(t, 6, strings.Count(string(asLines), "\n"))
}

// The JSON report has the whole value of a change if the value is short, sensitive, or different almost everywhere.
func TestJSONOfWholeValues(t *testing.T) {
	secret := textPlan(t, fields(1000, "a", 8), fields(1000, "a", 9))
	secret[0].Changes[0].Sensitive = true
	numbers := func(from int) any {
		var out []any
		for i := range 1000 {
			out = append(out, int64(from+i))
		}
		return out
	}
	added := textPlan(t, nil, fields(1000, "a", 8))
	added[0].Changes[0].Op = projection.OpAdd
	for why, plans := range map[string][]*ssaplan.Plan{
		"short":         textPlan(t, []any{"a", "b"}, []any{"a", "c"}),
		"secret":        secret,
		"all different": textPlan(t, numbers(10_000), numbers(20_000)),
		"added":         added,
	} {
		changes, _ := decoded(t, render.Report{Plans: plans})
		require.Len(t, changes, 1, why)
		assert.Equal(t, "data.text", changes[0].Path.String(), why)
	}
}
