package docs_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/immutability"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/projection/foreign"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/explain"
)

// fullPlan has something in every exported field. No plan of a server is like it.
func fullPlan() *ssaplan.Plan {
	path := must(projection.ParsePath("spec.replicas"))
	item := must(projection.ParsePath(`spec.ports[port=80]`))
	id := identity.Identity{APIVersion: "apps/v1", Kind: "Deployment", Namespace: "shop", Name: "web"}
	values := projection.Project(map[string]any{"spec": map[string]any{"replicas": int64(3)}}, projection.NewFieldSet(path))
	owner := fieldowner.Owner{
		Manager: "hpa", Operation: fieldowner.OperationUpdate, Subresource: "scale", APIVersion: "apps/v1",
		Time: time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC),
	}
	writer := owner
	writer.Subresource = ""
	drifted := explain.Change{
		Difference: projection.Difference{Path: path, Op: projection.OpChange, Before: int64(7), After: int64(3)},
		Cause:      explain.CauseDrifted,
		Manager:    owner.Manager, Operation: owner.Operation, Subresource: owner.Subresource, Time: owner.Time,
	}
	added := explain.Change{
		Difference: projection.Difference{Path: item, Op: projection.OpAdd, Position: 1, Sensitive: true},
		Cause:      explain.CauseSideEffect, Assigned: true, Refused: true,
	}
	return &ssaplan.Plan{
		Object: id, Subresource: "status", Action: ssaplan.ActionReplace, Reason: "because", Deferral: ssaplan.DeferralNoDryRun, Requests: 2,
		Explanation: explain.Explanation{
			NoOp: true, Before: values, After: values, Baseline: values, Changes: []explain.Change{drifted, added},
			Ownership: []fieldowner.Transfer{{Path: path, Kind: fieldowner.TransferTaken, Owners: []fieldowner.Owner{owner}}},
			Dropped: []fieldowner.DroppedField{
				{Path: path, Fate: fieldowner.FateRetained, Value: int64(3), Owners: []fieldowner.Owner{owner}},
				{Path: path, Fate: fieldowner.FateReset, Value: int64(3), Sensitive: true},
			},
			Assigned: []projection.Path{path}, Generated: []projection.Path{path}, Unknown: []projection.Path{path},
			Ignored:     []explain.IgnoredField{{Path: path, Handling: explain.HandlingLive, Owners: []fieldowner.Owner{owner}}},
			Rival:       &explain.Rival{Time: writer.Time, Paths: []projection.Path{path}},
			Writers:     []fieldowner.Writer{{Owner: writer, Tool: "kubectl edit", Stays: []projection.Path{path}}},
			Ineffective: []projection.Ineffective{{Path: path, Reason: projection.ReasonAbsent}}, Warnings: []foreign.Text{"careful"},
		},
		Replacement: &ssaplan.Replacement{
			Evidence: "identity", Old: id, UID: "5", Propagation: metav1.DeletePropagationOrphan, Refusal: errors.New("no"),
			Fields: []immutability.Field{
				{Path: path, Message: "field is immutable"},
				{Text: "metadata.annotations[example.com/x]", Message: "not found in the object, and not a path"},
			},
			Hazards: []immutability.Hazard{{Kind: immutability.HazardData, Message: "gone"}},
		},
		Conflicts:   []fieldowner.Conflict{{Path: path, Owner: owner}},
		Adjustments: []projection.Adjustment{{Path: path, To: item, Reason: "so that it counts"}},
	}
}

// part is a struct in a plan.
type part struct {
	name string
	of   func(*ssaplan.Plan) any
}

var parts = []part{
	{"Plan", func(p *ssaplan.Plan) any { return p }},
	{"Identity", func(p *ssaplan.Plan) any { return &p.Object }},
	{"Explanation", func(p *ssaplan.Plan) any { return &p.Explanation }},
	{"Change", func(p *ssaplan.Plan) any { return &p.Changes[0] }},
	{"Change", func(p *ssaplan.Plan) any { return &p.Changes[1] }},
	{"Difference", func(p *ssaplan.Plan) any { return &p.Changes[0].Difference }},
	{"Difference", func(p *ssaplan.Plan) any { return &p.Changes[1].Difference }},
	{"Transfer", func(p *ssaplan.Plan) any { return &p.Ownership[0] }},
	{"Owner", func(p *ssaplan.Plan) any { return &p.Ownership[0].Owners[0] }},
	{"DroppedField", func(p *ssaplan.Plan) any { return &p.Dropped[0] }},
	{"DroppedField", func(p *ssaplan.Plan) any { return &p.Dropped[1] }},
	{"IgnoredField", func(p *ssaplan.Plan) any { return &p.Ignored[0] }},
	{"Writer", func(p *ssaplan.Plan) any { return &p.Writers[0] }},
	{"Owner", func(p *ssaplan.Plan) any { return &p.Writers[0].Owner }},
	{"Rival", func(p *ssaplan.Plan) any { return p.Rival }},
	{"Ineffective", func(p *ssaplan.Plan) any { return &p.Ineffective[0] }},
	{"Replacement", func(p *ssaplan.Plan) any { return p.Replacement }},
	{"Identity", func(p *ssaplan.Plan) any { return &p.Replacement.Old }},
	{"Field", func(p *ssaplan.Plan) any { return &p.Replacement.Fields[0] }},
	{"Field", func(p *ssaplan.Plan) any { return &p.Replacement.Fields[1] }},
	{"Hazard", func(p *ssaplan.Plan) any { return &p.Replacement.Hazards[0] }},
	{"Conflict", func(p *ssaplan.Plan) any { return &p.Conflicts[0] }},
	{"Owner", func(p *ssaplan.Plan) any { return &p.Conflicts[0].Owner }},
	{"Adjustment", func(p *ssaplan.Plan) any { return &p.Adjustments[0] }},
}

// The JSON of a plan depends on every exported field of the plan, except those for which docs/plan.md gives a reason.
func TestPlanJSONIsLossless(t *testing.T) {
	whole := must(json.Marshal(fullPlan()))
	shown := map[string]bool{} // by the name of a field, whether the JSON depends on it
	for _, part := range parts {
		structure := reflect.TypeOf(part.of(fullPlan())).Elem()
		for i := range structure.NumField() {
			field, plan := structure.Field(i), fullPlan()
			if field.IsExported() && !field.Anonymous {
				name := part.name + "." + field.Name
				reflect.ValueOf(part.of(plan)).Elem().Field(i).SetZero()
				shown[name] = shown[name] || string(must(json.Marshal(plan))) != string(whole)
			}
		}
	}
	leftOut := leftOutOfJSON(t)
	for name, isShown := range shown {
		assert.NotEqual(t, isShown, leftOut[name], "%s: in the JSON, or with a reason in docs/plan.md", name)
	}
	for name := range leftOut {
		assert.Contains(t, shown, name, "docs/plan.md")
	}
}

// leftOutOfJSON returns the fields that docs/plan.md says are not in the JSON.
func leftOutOfJSON(t *testing.T) map[string]bool {
	t.Helper()
	out := map[string]bool{}
	_, table, found := strings.Cut(read(t, "../../docs/plan.md"), "| not in the JSON | why |\n|---|---|\n")
	require.True(t, found)
	table, _, _ = strings.Cut(table, "\n\n")
	for line := range strings.Lines(table) {
		names, _, _ := strings.Cut(strings.TrimPrefix(line, "|"), "|")
		for _, match := range regexp.MustCompile("`([A-Za-z.]+)`").FindAllStringSubmatch(names, -1) {
			out[match[1]] = true
		}
	}
	return out
}

// What was written is read, whatever is in it, and written the same again.
func TestFullPlanIsReadBack(t *testing.T) {
	text := must(json.Marshal(fullPlan()))
	var read ssaplan.Plan
	require.NoError(t, json.Unmarshal(text, &read))
	assert.Equal(t, string(text), string(must(json.Marshal(read))))
	assert.Equal(t, fullPlan().Ownership, read.Ownership)
	assert.Equal(t, fullPlan().Conflicts, read.Conflicts)
	assert.Equal(t, fullPlan().Replacement.Fields, read.Replacement.Fields)
	assert.Equal(t, fullPlan().Changes[0], read.Changes[0], "nothing of it is redacted")
}

// An encoder with SetEscapeHTML(false) escapes no text of a plan, in any part of the plan.
func TestPlanJSONEscapesNothing(t *testing.T) {
	plan, text := fullPlan(), "a<b>&c"
	plan.Reason, plan.Warnings, plan.Changes[0].After, plan.Dropped[0].Value = text, []foreign.Text{foreign.Text(text)}, text, text
	plan.Replacement.Fields[0].Message = foreign.Text(text)
	plan.Replacement.Hazards[0].Message, plan.Adjustments[0].Reason = text, text
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	require.NoError(t, encoder.Encode(plan))
	assert.Equal(t, 7, strings.Count(out.String(), text), out.String())
}
