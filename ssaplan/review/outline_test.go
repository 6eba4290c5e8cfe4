package review_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/projection/foreign"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/explain"
	"github.com/ssaplan/primitives/ssaplan/review"
)

// Two plans have the same outline if they do the same to the declared fields. Other parts of a plan and sensitive
// values don't count.
func TestOutline(t *testing.T) {
	at := func(name string) projection.Path {
		return projection.Path{projection.Field("data"), projection.Field(name)}
	}
	update := func(kind string) *ssaplan.Plan {
		p := plan(kind)
		p.Action = ssaplan.ActionUpdate
		p.Before, p.Warnings = p.After, []foreign.Text{"a"}
		p.Changes = []explain.Change{
			{Difference: projection.Difference{Path: at("n"), Op: projection.OpChange, Before: "a", After: "b", Sensitive: kind == "Secret"}, Cause: explain.CauseEdited},
			{Difference: projection.Difference{Path: at("m"), Op: projection.OpAdd, After: "x"}, Cause: explain.CauseSideEffect},
		}
		p.Dropped = []fieldowner.DroppedField{{Path: at("o"), Value: "c", Fate: fieldowner.FateDeleted, Sensitive: kind == "Secret"}}
		return p
	}
	outline := func(p *ssaplan.Plan) string {
		text, err := review.Outline(p)
		require.NoError(t, err)
		require.Len(t, text, 53)
		require.True(t, strings.HasPrefix(text, "outline-1:"))
		return text
	}
	for _, row := range []struct {
		why    string
		kind   string
		change func(*ssaplan.Plan)
		same   bool
	}{
		{"nothing", "ConfigMap", func(*ssaplan.Plan) {}, true},
		{"another object", "ConfigMap", func(p *ssaplan.Plan) { p.Object.Name = "b" }, false},
		{"another action", "ConfigMap", func(p *ssaplan.Plan) { p.Action = ssaplan.ActionReplace }, false},
		{"another value before", "ConfigMap", func(p *ssaplan.Plan) { p.Changes[0].Before = "z" }, false},
		{"another value after", "ConfigMap", func(p *ssaplan.Plan) { p.Changes[0].After = "z" }, false},
		{"another cause", "ConfigMap", func(p *ssaplan.Plan) { p.Changes[0].Cause = explain.CauseDrifted }, false},
		{"another value that is dropped", "ConfigMap", func(p *ssaplan.Plan) { p.Dropped[0].Value = "z" }, false},
		{"another fate", "ConfigMap", func(p *ssaplan.Plan) { p.Dropped[0].Fate = fieldowner.FateReset }, false},
		{"a field that changes owners", "ConfigMap", func(p *ssaplan.Plan) { p.Ownership = []fieldowner.Transfer{{Path: at("n")}} }, false},
		{"a value that stays", "ConfigMap", func(p *ssaplan.Plan) {
			p.After = projection.Project(map[string]any{"data": map[string]any{"n": "z"}}, p.After.Fields)
		}, false},
		{"another side effect", "ConfigMap", func(p *ssaplan.Plan) { p.Changes[1].After = "z" }, true},
		{"a side effect on what is declared", "Secret", func(p *ssaplan.Plan) {
			p.Changes = append(p.Changes, explain.Change{Difference: projection.Difference{Path: at("k")[:1], Sensitive: true}, Cause: explain.CauseSideEffect})
		}, false},
		{"what the server makes up", "ConfigMap", func(p *ssaplan.Plan) { p.Generated = []projection.Path{at("z")} }, true},
		{"what is left to others", "ConfigMap", func(p *ssaplan.Plan) { p.Ignored = []explain.IgnoredField{{Path: at("z")}} }, true},
		{"what other tools wrote", "ConfigMap", func(p *ssaplan.Plan) { p.Writers = []fieldowner.Writer{{Tool: "z"}} }, true},
		{"a warning", "ConfigMap", func(p *ssaplan.Plan) { p.Warnings = []foreign.Text{"z"} }, true},
		{"a sensitive value", "Secret", func(p *ssaplan.Plan) { p.Changes[0].After = "z" }, true},
		{"a sensitive value that is dropped", "Secret", func(p *ssaplan.Plan) { p.Dropped[0].Value = "z" }, true},
		{"where it is", "Secret", func(p *ssaplan.Plan) { p.Changes[0].Path = at("z") }, false},
	} {
		before, now := update(row.kind), update(row.kind)
		row.change(now)
		require.Equal(t, row.same, outline(before) == outline(now), row.why)
		require.Equal(t, "a", update(row.kind).Changes[0].Before, "the plan stays as it is")
	}
}
