package set

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/ssaplan/primitives/immutability"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/ssaplan"
)

// invalid is the refusal of a Gadget for some of its fields.
func invalid(errs ...*field.Error) error {
	return apierrors.NewInvalid(schema.GroupKind{Group: "example.com", Kind: "Gadget"}, "a", errs)
}

// unplaced is a refusal that names no field.
func unplaced() error {
	refusal := invalid(field.Invalid(field.NewPath("spec"), "x", "no")).(*apierrors.StatusError)
	refusal.ErrStatus.Details.Causes[0].Field = ""
	return refusal
}

// sends reports whether a request sends a field.
func sends(request ssaplan.Request, path projection.Path) bool {
	_, declared := projection.Get(request.Manifest.Object, path)
	return declared && !request.Strip.Match(path) && !request.Unknown.Match(path)
}

// An object that the server refuses for fields or values that come with the CRD of the same set is shown with these.
func TestPredictRefused(t *testing.T) {
	const before = "size: 1, mode: old"
	const color = ", color: {type: string}"
	const list = ", parts: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [name], items: {type: object, properties: {name: {type: string}, mode: {type: string}}}}"
	refuse := func(texts ...string) planEdit {
		var refused []projection.Path
		for _, text := range texts {
			refused = append(refused, paths(t, text)...)
		}
		return func(request ssaplan.Request, plan *ssaplan.Plan, err error) (*ssaplan.Plan, error) {
			for _, path := range refused {
				if err == nil && plan.Object.Kind == "Gadget" && sends(request, path) {
					return nil, invalid(field.NotSupported(field.NewPath(path.String()), "x", []string{"old"}))
				}
			}
			return plan, err
		}
	}
	for name, row := range map[string]struct {
		before, after string // of the CRD
		was, spec     string
		script        planEdit
		request       func(*ssaplan.Request)
		changes       string
		unknown       string
		err           string
	}{
		"fields are new": {
			after: color + ", shape: {type: string}", was: before, spec: "size: 2, mode: old, color: red, shape: round",
			changes: `[spec.color: + "red" spec.shape: + "round" spec.size: 1 -> 2]`,
		},
		"only a field is new": {after: color, was: before, spec: before + ", color: red", changes: "[]", unknown: "[spec.color]"},
		"a value is new": {
			after: color, was: before, spec: "size: 2, mode: new", script: refuse("spec.mode"), changes: `[spec.mode: "old" -> "new" spec.size: 1 -> 2]`,
		},
		"values are new": {
			before: color, was: before + ", color: red", spec: "size: 2, mode: new, color: blue", script: refuse("spec.mode", "spec.size"),
			changes: `[spec.color: "red" -> "blue" spec.mode: "old" -> "new" spec.size: 1 -> 2]`,
		},
		"a new item": {
			before: list, after: list + color, was: "size: 1, parts: [{name: b, mode: one}]", script: refuse(`spec.parts[name="c"].mode`),
			spec: "size: 2, parts: [{name: b, mode: one}, {name: c, mode: two}]", changes: `[spec.parts[name="c"]: + {"mode":"two","name":"c"} spec.size: 1 -> 2]`,
		},
		"a new value in an item": {
			before: list, after: list + color, was: "size: 1, parts: [{name: b, mode: one}]", script: refuse(`spec.parts[name="b"].mode`),
			spec: "size: 2, parts: [{name: b, mode: two}]", changes: `[spec.parts[name="b"].mode: "one" -> "two" spec.size: 1 -> 2]`,
		},
		"a new value in an item that the server names by its position": {
			before: list, after: list + color, was: "size: 1, parts: [{name: b, mode: one}]",
			script: func(request ssaplan.Request, plan *ssaplan.Plan, err error) (*ssaplan.Plan, error) {
				if err == nil && plan.Object.Kind == "Gadget" && len(request.Strip) == 0 && len(request.Unknown) == 0 {
					return nil, invalid(field.Invalid(field.NewPath("spec").Child("parts").Index(0).Child("mode"), "two", "no"))
				}
				return plan, err
			},
			spec: "size: 2, parts: [{name: b, mode: two}]", changes: `[spec.parts[name="b"].mode: "one" -> "two" spec.size: 1 -> 2]`,
		},
		"other values are unknown": {
			before: color, was: before + ", color: red", spec: "size: 2, mode: new, color: blue", script: refuse("spec.mode"),
			request: func(r *ssaplan.Request) { r.Unknown, _ = projection.ParsePatterns("spec.size") },
			changes: `[spec.color: "red" -> "blue" spec.mode: "old" -> "new"]`, unknown: "[spec.size]",
		},
		"the rest can't be tried": {
			after: color, was: before, spec: "size: 2, mode: new",
			script: func(request ssaplan.Request, plan *ssaplan.Plan, err error) (*ssaplan.Plan, error) {
				switch {
				case err != nil || plan.Object.Kind != "Gadget":
				case len(request.Unknown) == 0:
					return nil, unplaced()
				default:
					plan.Changes = nil
				}
				return plan, err
			}, changes: `[spec.mode: "old" -> "new" (edited or changed by others) spec.size: 1 -> 2 (edited or changed by others)]`,
		},
		"nothing is known": {
			after: color, was: before, spec: "size: 2, mode: new",
			script: func(_ ssaplan.Request, plan *ssaplan.Plan, err error) (*ssaplan.Plan, error) {
				if err == nil && plan.Object.Kind == "Gadget" {
					return nil, invalid(field.Invalid(field.NewPath("spec"), "x", "no"))
				}
				return plan, err
			}, err: "no",
		},
	} {
		t.Run(name, func(t *testing.T) {
			planner, _ := newPlanner(t)
			install(t, planner, crd(row.before, "v1"), gadget("v1", row.was))
			edited := &scripted{Planner: planner, plan: row.script}
			requests := []ssaplan.Request{{Manifest: object(t, crd(row.after, "v1"))}, {Manifest: object(t, gadget("v1", row.spec))}}
			if row.request != nil {
				row.request(&requests[1])
			}
			item := items(t, New(edited, requests, Options{}))[1]
			if row.err != "" {
				require.ErrorContains(t, item.Err, row.err)
				require.Empty(t, item.After)
				return
			}
			require.NoError(t, item.Err)
			require.Equal(t, ssaplan.ActionDeferred, item.Plan.Action)
			require.Equal(t, ssaplan.DeferralSet, item.Plan.Deferral)
			require.Contains(t, item.Plan.Reason, "it waits for apiextensions.k8s.io/v1/CustomResourceDefinition gadgets.example.com of the same set")
			require.Equal(t, row.changes, fmt.Sprint(item.Plan.Changes))
			require.Equal(t, strings.Trim(row.unknown, "[]"), strings.Trim(fmt.Sprint(item.Plan.Unknown), "[]"))
			for _, change := range item.Plan.Changes {
				becomes, _ := projection.NewObject(item.Plan.After.Object, item.Plan.After.Fields).Get(change.Path)
				require.Equal(t, change.After, becomes, change.Path)
			}
		})
	}
}

// protects is a server on which a transition rule protects spec.mode: a plan that changes it is a replacement.
func protects(fields []immutability.Field, then func(ssaplan.Request, *ssaplan.Plan) (*ssaplan.Plan, error)) planEdit {
	return func(request ssaplan.Request, plan *ssaplan.Plan, err error) (*ssaplan.Plan, error) {
		if err != nil || plan.Object.Kind != "Gadget" || len(request.Unknown) > 0 {
			return plan, err
		}
		for i, change := range plan.Changes {
			if change.Path.String() != "spec.mode" {
				continue
			}
			plan.Changes[i].Refused = len(fields) == 0
			refusal := invalid(field.Invalid(field.NewPath("spec", "mode"), "string", "failed rule: self == oldSelf"))
			plan.Action, plan.Reason = ssaplan.ActionReplace, "can't change in place"
			plan.Replacement = &ssaplan.Replacement{Old: plan.Object, UID: string(plan.Live().GetUID()), Refusal: refusal, Fields: fields}
			return plan, nil
		}
		if then != nil && plan.Action != ssaplan.ActionCreate {
			return then(request, plan)
		}
		return plan, nil
	}
}

// A change that a transition rule refuses is shown as an update if the CRD of the set lifts the rule, and as the
// replacement that it is now if that isn't known or something else is refused.
func TestPredictLifted(t *testing.T) {
	const color = ", color: {type: string}"
	const cant = " (can't change in place)"
	whole := []immutability.Field{{Text: "spec"}}
	refuse := func(ssaplan.Request, *ssaplan.Plan) (*ssaplan.Plan, error) {
		return nil, invalid(field.Invalid(field.NewPath("spec", "size"), 2, "too large"))
	}
	conflict := func(_ ssaplan.Request, plan *ssaplan.Plan) (*ssaplan.Plan, error) {
		plan.Action = ssaplan.ActionConflict
		return plan, nil
	}
	for name, row := range map[string]struct {
		before, after string // of the CRD, beside mode
		keeps         bool   // the rule
		was, spec     string
		fields        []immutability.Field
		then          func(ssaplan.Request, *ssaplan.Plan) (*ssaplan.Plan, error)
		action        ssaplan.Action
		changes       string
		dropped       int
	}{
		"it is lifted": {
			before: color, after: color, was: "size: 1, mode: old, color: red", spec: "size: 2, mode: new, color: blue",
			action: ssaplan.ActionDeferred, changes: `[spec.color: "red" -> "blue" spec.mode: "old" -> "new" spec.size: 1 -> 2]`,
		},
		"nothing else changes": {
			was: "size: 1, mode: old", spec: "size: 1, mode: new", action: ssaplan.ActionDeferred, changes: `[spec.mode: "old" -> "new"]`,
		},
		"the field is new": {
			was: "size: 1", spec: "size: 2, mode: new", action: ssaplan.ActionDeferred,
			changes: `[spec.mode: + "new" (edited or changed by others) spec.size: 1 -> 2]`,
		},
		"the rule is of the whole": {
			before: color, after: color, was: "size: 1, mode: old, color: red", spec: "size: 2, mode: new", fields: whole,
			action: ssaplan.ActionDeferred, changes: `[spec.color: - "red" (dropped from the manifest) spec.mode: "old" -> "new" spec.size: 1 -> 2]`, dropped: 1,
		},
		"another field is new": {
			after: color, was: "size: 1, mode: old", spec: "size: 2, mode: new, color: red",
			action: ssaplan.ActionDeferred, changes: `[spec.color: + "red" spec.mode: "old" -> "new" spec.size: 1 -> 2]`,
		},
		"another value is refused": {
			was: "size: 1, mode: old", spec: "size: 2, mode: new", then: refuse,
			action: ssaplan.ActionReplace, changes: `[spec.mode: "old" -> "new"` + cant + ` spec.size: 1 -> 2]`,
		},
		"another value is in conflict": {
			was: "size: 1, mode: old", spec: "size: 2, mode: new", then: conflict,
			action: ssaplan.ActionReplace, changes: `[spec.mode: "old" -> "new"` + cant + ` spec.size: 1 -> 2]`,
		},
		"the rule stays": {
			after: color, keeps: true, was: "size: 1, mode: old", spec: "size: 2, mode: new",
			action: ssaplan.ActionReplace, changes: `[spec.mode: "old" -> "new"` + cant + ` spec.size: 1 -> 2]`,
		},
		"the rule stays, and another field is new": {
			after: color, keeps: true, was: "size: 1, mode: old", spec: "size: 2, mode: new, color: red",
			action: ssaplan.ActionDeferred, changes: `[spec.color: + "red" spec.mode: "old" -> "new" spec.size: 1 -> 2]`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			planner, _ := newPlanner(t)
			install(t, planner, withRule(crd(row.before, "v1")), gadget("v1", row.was))
			after := crd(row.after, "v1")
			if row.keeps {
				after = withRule(after)
			}
			edited := &scripted{Planner: planner, plan: protects(row.fields, row.then)}
			item := items(t, newSet(t, edited, Options{}, after, gadget("v1", row.spec)))[1]
			require.NoError(t, item.Err)
			require.Equal(t, row.changes, fmt.Sprint(item.Plan.Changes))
			require.Equal(t, row.action, item.Plan.Action)
			require.Equal(t, row.action == ssaplan.ActionDeferred, len(item.After) > 0)
			require.Len(t, item.Plan.Dropped, row.dropped)
		})
	}
}
