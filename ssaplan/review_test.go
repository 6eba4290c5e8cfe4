package ssaplan

import (
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/immutability"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/projection/foreign"
	"github.com/ssaplan/primitives/ssaplan/explain"
)

// reviewed returns a plan that has something in every part, made anew each time.
func reviewed() *Plan {
	force := true
	live := &unstructured.Unstructured{Object: map[string]any{}}
	live.SetUID("u1")
	live.SetResourceVersion("23")
	at := projection.Path{projection.Field("data"), projection.Field("a")}
	difference := projection.Difference{Path: at, Op: projection.OpChange, Before: "A", After: "B"}
	return &Plan{
		Action: ActionUpdate, Reason: "1 edited",
		Explanation: explain.Explanation{
			Changes:   []explain.Change{{Difference: difference, Cause: explain.CauseDrifted, Manager: "hpa"}},
			Ownership: []fieldowner.Transfer{{Path: at, Kind: fieldowner.TransferTaken, Owners: []fieldowner.Owner{{Manager: "hpa"}}}},
			Dropped:   []fieldowner.DroppedField{{Path: at, Fate: fieldowner.FateReset, Value: "B"}},
			Warnings:  []foreign.Text{"careful"},
		},
		Replacement: &Replacement{Hazards: []immutability.Hazard{{Kind: immutability.HazardData, Message: "all of it"}}},
		basis: &basis{
			patch: Patch{[]byte(`{"data":{"a":"B"}}`), metav1.PatchOptions{FieldManager: "m", Force: &force}}, live: live,
		},
	}
}

// A change in between is a new plan and not a surprise: each part that a person reviews counts.
func TestEachPartOfAReviewedPlanCounts(t *testing.T) {
	require.True(t, reviewed().matches(reviewed()))
	no, now := false, metav1.Now()
	for part, change := range map[string]func(*Plan){
		"action":                    func(p *Plan) { p.Action = ActionCreate },
		"request":                   func(p *Plan) { p.basis.patch.Body = []byte(`{}`) },
		"manager":                   func(p *Plan) { p.basis.patch.Options.FieldManager = "n" },
		"force":                     func(p *Plan) { p.basis.patch.Options.Force = &no },
		"object":                    func(p *Plan) { p.basis.live.SetUID("u2") },
		"deletion":                  func(p *Plan) { p.basis.live.SetDeletionTimestamp(&now) },
		"another change":            func(p *Plan) { p.Changes = append(p.Changes, p.Changes[0]) },
		"no change":                 func(p *Plan) { p.Changes = nil },
		"path of a change":          func(p *Plan) { p.Changes[0].Path = p.Changes[0].Path[:1] },
		"operation":                 func(p *Plan) { p.Changes[0].Op = projection.OpAdd },
		"value before":              func(p *Plan) { p.Changes[0].Before = "C" },
		"value after":               func(p *Plan) { p.Changes[0].After = "C" },
		"cause":                     func(p *Plan) { p.Changes[0].Cause = explain.CauseEdited },
		"manager of a change":       func(p *Plan) { p.Changes[0].Manager = "vpa" },
		"who picks the value":       func(p *Plan) { p.Changes[0].Assigned = true },
		"ownership":                 func(p *Plan) { p.Ownership[0].Kind = fieldowner.TransferShared },
		"loser":                     func(p *Plan) { p.Ownership[0].Owners[0].Manager = "vpa" },
		"fate":                      func(p *Plan) { p.Dropped[0].Fate = fieldowner.FateDeleted },
		"value of a dropped field":  func(p *Plan) { p.Dropped[0].Value = "C" },
		"warning":                   func(p *Plan) { p.Warnings[0] = "careless" },
		"another hazard":            func(p *Plan) { p.Replacement.Hazards[0].Kind = immutability.HazardContents },
		"hazard with another reach": func(p *Plan) { p.Replacement.Hazards[0].Message = "and more" },
	} {
		plan := reviewed()
		change(plan)
		require.False(t, plan.matches(reviewed()), part)
	}
	fewer := reviewed()
	fewer.Replacement.Hazards = nil
	require.True(t, fewer.matches(reviewed()), "less is endangered than was agreed to")
	later := reviewed()
	later.basis.live.SetResourceVersion("24")
	require.True(t, later.matches(reviewed()), "what changed is not what was reviewed")
}
