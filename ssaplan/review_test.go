package ssaplan

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/immutability"
	"github.com/ssaplan/primitives/internal/parts"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/ssaplan/explain"
)

// reviewed returns a new plan with a value in every part. The tests of package explain cover the parts of an
// explanation.
func reviewed() *Plan {
	force := true
	live := &unstructured.Unstructured{Object: map[string]any{}}
	live.SetUID("u1")
	live.SetResourceVersion("23")
	at := projection.Path{projection.Field("data"), projection.Field("a")}
	id := identity.Identity{APIVersion: "v1", Kind: "ConfigMap", Namespace: "shop", Name: "a"}
	return &Plan{
		Object: id, Subresource: "status", Action: ActionUpdate, Reason: "1 edited", Deferral: DeferralNoDryRun, Requests: 2,
		Explanation: explain.Explanation{Unknown: []projection.Path{at}},
		Replacement: &Replacement{
			Evidence: "texts", Old: id, UID: "u1",
			Fields:      []immutability.Field{{Path: at, Text: "data.a", Message: "field is immutable"}},
			Hazards:     []immutability.Hazard{{Kind: immutability.HazardData, Message: "all of it"}},
			Propagation: metav1.DeletePropagationBackground, Refusal: errors.New("no"),
		},
		Conflicts:   []fieldowner.Conflict{{Path: at, Owner: fieldowner.Owner{Manager: "hpa"}}},
		Adjustments: []projection.Adjustment{{Path: at, To: at, Reason: "that is how a server stores it"}},
		basis: &basis{
			patch: explain.Patch{Body: []byte(`{"data":{"a":"B"}}`), Options: metav1.PatchOptions{FieldManager: "m", Force: &force}}, live: live,
		},
	}
}

// notReviewed are the parts in which a plan may differ from the reviewed one, and why.
var notReviewed = map[string]string{
	".Reason":                    "tells in words what the action, the changes and the fields tell",
	".Deferral":                  "no plan that is Deferred is carried out",
	".Replacement.Evidence":      "before it deletes, Replace wants proof, whatever was proof before",
	".Replacement.Fields more":   "it is the same field",
	".Replacement.Fields[].Text": "has positions, and the path tells better",
	".Replacement.Hazards more":  "it is the same hazard",
	".Replacement.Hazards less":  "less is endangered than was agreed to",
	".Replacement.Refusal":       "quotes values and positions; the fields have what it says",
	".Replacement.unproven":      "Replace asks for it",
	".Conflicts":                 "no plan that is a Conflict is carried out",
	".Adjustments":               "follow from the manifest, of which the request has what is sent",
	".Requests":                  "what planning took does nothing",
	".basis":                     "what of it is reviewed is in the test below",
}

// A later plan matches the reviewed plan only if all their parts are equal, except for the parts in notReviewed. The
// test fails if a new part is neither compared nor in notReviewed.
func TestEachPartOfAReviewedPlanCounts(t *testing.T) {
	partsOf := func(plan *Plan) []parts.Part {
		other := projection.Path{projection.Field("other")}
		found, err := parts.Of(plan, other, explain.Explanation{NoOp: true}, errors.New("other"))
		require.NoError(t, err)
		return found
	}
	require.True(t, reviewed().matches(reviewed()))
	seen := map[string]bool{}
	for i := range partsOf(reviewed()) {
		changed := reviewed()
		part := partsOf(changed)[i]
		if part.Change != nil {
			part.Change()
		}
		same := false
		for free := range notReviewed {
			if strings.HasPrefix(part.Name, free) {
				same, seen[free] = true, true
			}
		}
		require.Equal(t, same, changed.matches(reviewed()), part.Name)
	}
	require.Len(t, seen, len(notReviewed), "plans lack a part that is listed")
}

// The rest of what is compared isn't in a field of its own, or counts in one case and not in the other.
func TestWhatElseOfAReviewedPlanCounts(t *testing.T) {
	no, now := false, metav1.Now()
	for why, row := range map[string]struct {
		before, change func(*Plan)
		same           bool
	}{
		"the request":                  {change: func(p *Plan) { p.basis.patch.Body = []byte(`{}`) }},
		"who applies":                  {change: func(p *Plan) { p.basis.patch.Options.FieldManager = "n" }},
		"whether it takes over":        {change: func(p *Plan) { p.basis.patch.Options.Force = &no }},
		"the object was made anew":     {change: func(p *Plan) { p.basis.live.SetUID("u2") }},
		"the object is being deleted":  {change: func(p *Plan) { p.basis.live.SetDeletionTimestamp(&now) }},
		"others changed another field": {change: func(p *Plan) { p.basis.live.SetResourceVersion("24") }, same: true},
		"no replacement":               {change: func(p *Plan) { p.Replacement = nil }},
		"neither is a replacement": {
			before: func(p *Plan) { p.Replacement = nil }, change: func(p *Plan) { p.Replacement = nil }, same: true,
		},
		"the hazard reaches further": {change: func(p *Plan) { p.Replacement.Hazards[0].Message = "and more" }},
		"a hazard that wasn't there": {before: func(p *Plan) { p.Replacement.Hazards = nil }, change: func(*Plan) {}},
		"fields in another order": {
			before: func(p *Plan) { p.Replacement.Fields = []immutability.Field{{Text: "a"}, {Text: "b"}} },
			change: func(p *Plan) { p.Replacement.Fields = []immutability.Field{{Text: "b"}, {Text: "a"}} }, same: true,
		},
		"a field without a path": {
			before: func(p *Plan) { p.Replacement.Fields[0] = immutability.Field{Text: "a"} },
			change: func(p *Plan) { p.Replacement.Fields[0] = immutability.Field{Text: "b"} },
		},
	} {
		before, later := reviewed(), reviewed()
		if row.before != nil {
			row.before(before)
		}
		row.change(later)
		require.Equal(t, row.same, later.matches(before), why)
	}
}

// When fields have changed owners and no apply was to follow, one that only has the server write the object again is no
// other plan.
func TestPlansToDoNothingThatAreOutdated(t *testing.T) {
	explained := func(reordered bool, before, after string) explain.Explanation {
		object := func(value string, managers ...string) map[string]any {
			var entries []any
			for _, manager := range managers {
				entries = append(entries, map[string]any{
					"manager": manager, "operation": "Apply", "apiVersion": "v1", "fieldsType": "FieldsV1",
					"fieldsV1": map[string]any{"f:data": map[string]any{"f:" + manager: map[string]any{}}},
				})
			}
			return map[string]any{
				"apiVersion": "v1", "kind": "ConfigMap", "data": map[string]any{"m": value, "n": "N"},
				"metadata": map[string]any{"name": "a", "resourceVersion": "23", "managedFields": entries},
			}
		}
		managers := []string{"m", "n"}
		if reordered {
			managers = []string{"n", "m"}
		}
		manifest := map[string]any{
			"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "a"}, "data": map[string]any{"m": after},
		}
		e, err := explain.Apply(explain.Input{
			Manifest: manifest, Live: object(before, "m", "n"), Answer: object(after, managers...), Manager: "m",
		})
		require.NoError(t, err)
		return *e
	}
	outdated := reviewed()
	outdated.Action, outdated.Explanation = ActionNoOp, explained(false, "A", "A")
	require.True(t, outdated.NoOp)
	for why, row := range map[string]struct {
		change func(*Plan)
		want   bool
	}{
		"it is written again":  {func(p *Plan) { p.Explanation = explained(true, "A", "A") }, false},
		"another value":        {func(p *Plan) { p.Explanation = explained(true, "A", "B") }, true},
		"it was another value": {func(p *Plan) { p.Explanation = explained(true, "B", "B") }, true},
		"another request": {func(p *Plan) {
			p.Explanation, p.basis.patch.Body = explained(true, "A", "A"), []byte(`{}`)
		}, true},
		"it is replaced": {func(p *Plan) {
			p.Explanation, p.Action = explained(true, "A", "A"), ActionReplace
		}, true},
	} {
		now := reviewed()
		row.change(now)
		require.Equal(t, row.want, outdated.isOutdatedBy(&ChangedError{now}), why)
	}
	require.False(t, outdated.isOutdatedBy(errors.New("no answer")))
}
