package ssaplan_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/explain"
)

// Whichever way a plan or its changes are encoded, nothing but what may be shown comes out.
func TestEveryEncodingShowsTheSame(t *testing.T) {
	secret := projection.Difference{Path: path("data.password"), Op: projection.OpChange, Before: "b2xk", After: "bmV3", Sensitive: true}
	plan := ssaplan.Plan{
		Action:      ssaplan.ActionUpdate,
		Explanation: explain.Explanation{Changes: []explain.Change{{Difference: secret, Cause: explain.CauseDrifted, Manager: "kubectl"}}},
	}
	value := mustMarshal(t, map[string]any{"plan": plan, "changes": plan.Changes})
	pointer := mustMarshal(t, map[string]any{"plan": &plan, "changes": []*explain.Change{&plan.Changes[0]}})
	require.JSONEq(t, string(pointer), string(value))
	require.JSONEq(t, `{
		"plan": {"version": 1, "object": {"apiVersion": "", "kind": "", "name": ""}, "action": "Update", "reason": "", "requests": 0, "changes": [
			{"path": "data.password", "cause": "Drifted", "manager": "kubectl", "before": "<redacted>", "after": "<redacted: changed>", "sensitive": true}]},
		"changes": [
			{"path": "data.password", "cause": "Drifted", "manager": "kubectl", "before": "<redacted>", "after": "<redacted: changed>", "sensitive": true}]
	}`, string(value))
}

func path(text string) projection.Path {
	p, err := projection.ParsePath(text)
	if err != nil {
		panic(err)
	}
	return p
}

// The JSON encoder decides whether the text of a plan is escaped for HTML: it is by default, and it isn't after
// SetEscapeHTML(false).
func TestPlanLeavesEscapingToTheEncoder(t *testing.T) {
	plan := &ssaplan.Plan{Action: ssaplan.ActionReplace, Reason: "a -> b"}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	require.NoError(t, encoder.Encode(plan))
	assert.Contains(t, text.String(), `"a -> b"`)

	escaped := mustMarshal(t, plan)
	assert.Contains(t, string(escaped), `"a -\u003e b"`)
	assert.JSONEq(t, text.String(), string(escaped))
}

func after(t *testing.T, content map[string]any, paths ...string) projection.Projection {
	t.Helper()
	var fields []projection.Path
	for _, text := range paths {
		fields = append(fields, path(text))
	}
	return projection.Project(content, projection.NewFieldSet(fields...))
}

func TestDeclaredOfADeferredPlan(t *testing.T) {
	shop := map[string]any{
		"data":  map[string]any{"password": "canary", "port": int64(9007199254740993), "none": nil, "<a>": "b"},
		"items": []any{map[string]any{"name": "a", "v": int64(1)}, map[string]any{"name": "b", "v": int64(2)}},
	}
	for _, row := range []struct {
		why   string
		after projection.Projection
		want  string
	}{
		{"fields", after(t, shop, "data.port", `data["<a>"]`),
			`[{"path":"data[\"\u003ca\u003e\"]","op":"add","after":"b"},{"path":"data.port","op":"add","after":9007199254740993}]`},
		{"null", after(t, shop, "data.none"), `[{"path":"data.none","op":"add","after":null}]`},
		{"a list as a whole", after(t, shop, "items"),
			`[{"path":"items","op":"add","after":[{"name":"a","v":1},{"name":"b","v":2}]}]`},
		{"items, of one of which there is a part only", after(t, shop, `items[name="a"].v`, `items[name="a"].name`, `items[name="b"]`),
			`[{"path":"items[name=\"a\"]","op":"add","after":{"name":"a","v":1},"position":0},` +
				`{"path":"items[name=\"b\"]","op":"add","after":{"name":"b","v":2},"position":1}]`},
		{"what must not be shown", func() projection.Projection {
			secret := after(t, shop, "data.password")
			secret.Sensitive = secret.Fields
			return secret
		}(), `[{"path":"data.password","op":"add","after":"<redacted>","sensitive":true}]`},
	} {
		t.Run(row.why, func(t *testing.T) {
			deferred := ssaplan.Plan{Action: ssaplan.ActionDeferred, Explanation: explain.Explanation{After: row.after}}
			text := declaredOf(t, deferred)
			require.JSONEq(t, row.want, text)
			var read ssaplan.Plan
			whole := mustMarshal(t, deferred)
			require.NoError(t, json.Unmarshal(whole, &read))
			require.Equal(t, text, declaredOf(t, read), "as it was")
			require.Equal(t, row.after.String(), read.After.String())
		})
	}
	create := ssaplan.Plan{Action: ssaplan.ActionCreate, Explanation: explain.Explanation{After: after(t, shop, "data")}}
	require.Empty(t, declaredOf(t, create), "its changes have it")
	require.Empty(t, declaredOf(t, ssaplan.Plan{Action: ssaplan.ActionDeferred}), "nothing")
}

// declaredOf returns what the JSON of a plan has as declared.
func declaredOf(t *testing.T, plan ssaplan.Plan) string {
	t.Helper()
	text := mustMarshal(t, plan)
	var form struct{ Declared json.RawMessage }
	require.NoError(t, json.Unmarshal(text, &form))
	return string(form.Declared)
}

func TestDeclaredThatIsNothing(t *testing.T) {
	for text, want := range map[string]string{
		`{}`: "cannot unmarshal", `[{"path":"a["}]`: "a[",
		`[{"path":"a","op":"add","after":1},{"path":"a.b","op":"add","after":1}]`: "declared: ",
		`[{"path":"","op":"add","after":1}]`:                                      "",
	} {
		var read ssaplan.Plan
		require.ErrorContains(t, json.Unmarshal([]byte(`{"version": 1, "declared": `+text+`}`), &read), want, text)
	}
}
