package render_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/examples/kubectl-ssaplan/render"
	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/explain"
	"github.com/ssaplan/primitives/ssaplan/write"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares text with testdata/NAME.
func golden(t *testing.T, name, text string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, string(want), text)
}

func report(t *testing.T) render.Report {
	return render.Report{
		Plans: plans(t),
		Failures: []render.Failure{
			{Class: "Input", Message: "app.yaml: document 3 (line 41): kind: missing"},
			{Object: object("v1", "ConfigMap", "", "a"), Class: "Webhook", Message: `app.yaml: document 4 (line 50): v1/ConfigMap default/a: denied`},
		},
	}
}

func TestText(t *testing.T) {
	for name, text := range map[string]render.Text{
		"default.txt":  {Now: now},
		"verbose.txt":  {Now: now, Verbose: true},
		"terminal.txt": {Now: now, Width: 80},
		"narrow.txt":   {Now: now, Width: 50},
		"color.txt":    {Now: now, Color: true},
	} {
		t.Run(name, func(t *testing.T) {
			out := text.Plans(plans(t)) + "\n" + text.Summary(report(t))
			golden(t, name, out)
			assert.NotContains(t, out, "LWNhbmFyeQ", "no value of a secret")
			if !text.Color {
				assert.NotContains(t, out, "\x1b", "nothing from outside reaches the terminal as an escape sequence")
			}
			assert.NotContains(t, out, "\u202e")
		})
	}
}

func TestTextOfNothing(t *testing.T) {
	assert.Empty(t, render.Text{}.Plans(nil))
	unchanged := []*ssaplan.Plan{{Object: object("v1", "ConfigMap", "x", "a"), Action: ssaplan.ActionNoOp}}
	assert.Empty(t, render.Text{}.Plans(unchanged))
	assert.Equal(t, "= v1/ConfigMap x/a\n", render.Text{Verbose: true}.Plans(unchanged))
}

func TestSummary(t *testing.T) {
	plan := func(action ssaplan.Action) *ssaplan.Plan { return &ssaplan.Plan{Action: action} }
	tests := []struct {
		want   string
		report render.Report
	}{
		{"Plan: nothing to do.\n", render.Report{}},
		{"Plan: 1 error.\n", render.Report{Failures: make([]render.Failure, 1)}},
		{"Plan: 2 unchanged.\n", render.Report{Plans: []*ssaplan.Plan{plan(ssaplan.ActionNoOp), plan(ssaplan.ActionNoOp)}}},
		{"Plan: 1 to create, 1 to update, 1 to replace, 1 in conflict, 1 deferred, 1 unchanged; 2 errors.\n", render.Report{
			Plans: []*ssaplan.Plan{
				plan(ssaplan.ActionNoOp), plan(ssaplan.ActionDeferred), plan(ssaplan.ActionConflict), plan(ssaplan.ActionReplace), plan(ssaplan.ActionUpdate), plan(ssaplan.ActionCreate),
			},
			Failures: make([]render.Failure, 2),
		}},
	}
	for _, tt := range tests {
		assert.Equal(t, tt.want, render.Text{}.Summary(tt.report))
	}
}

func TestResults(t *testing.T) {
	assert.Equal(t, "Apply: nothing to do.\n", render.Text{}.Results(nil))
	assert.Equal(t, "Apply: 2 done, 1 refused, 1 unknown, 1 not sent.\n", render.Text{}.Results([]render.Result{
		{Outcome: write.OutcomeNotSent}, {Outcome: write.OutcomeUnknown}, {Outcome: write.OutcomeDone},
		{Outcome: write.OutcomeRefused}, {Outcome: write.OutcomeDone},
	}))
}

// A removal that keeps its object says why, as text and in the JSON, and doesn't count as a deletion.
func TestKeptRemoval(t *testing.T) {
	kept := render.Removal{Object: object("v1", "ConfigMap", "shop", "web"), Kept: "still used by v1/Pod shop/web"}
	removals := []render.Removal{kept, {Object: object("v1", "Secret", "shop", "old")}}
	text := render.Text{}.Removals(removals, true)
	require.Contains(t, text, "v1/ConfigMap shop/web  kept: still used by v1/Pod shop/web\n")
	require.Contains(t, text, "v1/Secret shop/old  delete\n")
	encoded, err := render.Report{Removals: removals, Pruned: true}.JSON()
	require.NoError(t, err)
	var report struct {
		Removals []struct {
			Object struct{ Name string }
			Kept   *string
		}
	}
	require.NoError(t, json.Unmarshal(encoded, &report))
	require.Len(t, report.Removals, 2, string(encoded))
	require.Equal(t, kept.Kept, *report.Removals[0].Kept)
	require.Nil(t, report.Removals[1].Kept, "it is deleted")
}

// An action that a newer library may have is shown, not hidden.
func TestTextOfUnknownAction(t *testing.T) {
	out := render.Text{}.Plans([]*ssaplan.Plan{{Object: object("v1", "ConfigMap", "x", "a"), Action: "Rebirth", Reason: "why not"}})
	assert.Equal(t, "? v1/ConfigMap x/a  rebirth: why not\n", out)
}

// schema is that of the JSON output.
func schema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	compiled, err := compiler.Compile("../../../docs/plan.schema.json")
	require.NoError(t, err)
	return compiled
}

func TestJSON(t *testing.T) {
	compiled := schema(t)
	whole := report(t)
	whole.Whole = true
	for _, r := range []render.Report{whole, {}, report(t)} {
		text, err := r.JSON()
		require.NoError(t, err)
		assert.NotContains(t, string(text), "LWNhbmFyeQ", "no value of a secret")
		decoded, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		require.NoError(t, err)
		require.NoError(t, compiled.Validate(decoded), "%s", text)

		var got struct {
			Plans  []*ssaplan.Plan
			Errors []struct {
				Object         *identity.Identity
				Class, Message string
			}
		}
		require.NoError(t, json.Unmarshal(text, &got))
		if !r.Whole { // other tests check reports of parts
			continue
		}
		require.Len(t, got.Plans, len(r.Plans))
		for i, plan := range r.Plans {
			assert.Equal(t, fmt.Sprint(plan, plan.Changes, plan.Ownership, plan.Conflicts, plan.Warnings),
				fmt.Sprint(got.Plans[i], got.Plans[i].Changes, got.Plans[i].Ownership, got.Plans[i].Conflicts, got.Plans[i].Warnings))
		}
		require.Len(t, got.Errors, len(r.Failures))
		for i, failure := range r.Failures {
			assert.Equal(t, failure.Class, got.Errors[i].Class)
			assert.Equal(t, failure.Message, got.Errors[i].Message)
			if failure.Object == (identity.Identity{}) {
				assert.Nil(t, got.Errors[i].Object)
			} else {
				assert.Equal(t, &failure.Object, got.Errors[i].Object)
			}
		}
	}
	text, err := render.Report{}.JSON()
	require.NoError(t, err)
	assert.JSONEq(t, `{"apiVersion":"ssaplan/v1","plans":[],"errors":[]}`, string(text))
}

// Two texts that differ never look the same, however they are folded.
func TestChangesShowADifference(t *testing.T) {
	long := strings.Repeat("0123456789", 30)
	tests := []struct{ before, after any }{
		{int64(5), "5"}, {true, "true"}, {nil, ""}, {"a", "a "}, {"a\nb\n", "a\nb"}, {"a\r\nb\n", "a\nb\n"}, {"a\nb", "a\nb\n"},
		{long + "x", long + "y"}, {"x" + long, "y" + long}, {long, long + "y"}, {long + "\u202e", long},
		{[]any{"a", "b"}, []any{"b", "a"}}, {[]any{long, int64(5)}, []any{long, "5"}},
		{map[string]any{"a": long, "b": nil}, map[string]any{"a": long}},
	}
	for _, tt := range tests {
		for _, width := range []int{20, 100, 1000} {
			plan := &ssaplan.Plan{Action: ssaplan.ActionUpdate, Explanation: explain.Explanation{Changes: []explain.Change{change(t, "data.x", "change", tt.before, tt.after)}}}
			text := render.Text{Width: width}
			there := text.Plans([]*ssaplan.Plan{plan})
			plan.Changes[0].Before, plan.Changes[0].After = tt.after, tt.before
			assert.NotEqual(t, there, text.Plans([]*ssaplan.Plan{plan}), "%.20q and %.20q, width %d", tt.before, tt.after, width)
		}
	}
}
