package ssaplan

// This file makes plans from the answers to dry runs, with the explanation of the changes.

import (
	"cmp"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/projection/foreign"
	"github.com/ssaplan/primitives/ssaplan/explain"
	"github.com/ssaplan/primitives/ssaplan/internal/handover"
)

// answered returns the plan for the answer to the dry run, and the trial from explain.
func (t trial) answered() (*Plan, trial, error) {
	explained, t, err := t.explain()
	if err != nil {
		return nil, t, err
	}
	apply := explained
	if t.then != nil {
		apply = t.then
	}
	action, reason := ActionUpdate, ""
	switch {
	case t.live == nil:
		action, reason = ActionCreate, "does not exist"
	case !t.prepared.Unknown.Empty() && len(apply.Changes)+len(apply.Ownership) == 0:
		unknown := "nothing changes except fields with values that aren't known yet: " + projection.JoinPaths(
			apply.Unknown)
		return deferred(DeferralUnknownValues, unknown, *explained), t, nil
	case explained.NoOp:
		action, reason = ActionNoOp, "the server would write nothing"
	case t.then != nil && t.then.NoOp && len(explained.Ownership) == 0:
		reason = "no value changes, only the version of entries of managedFields"
	default:
		reason = apply.Summary()
	}
	return &Plan{Action: action, Reason: reason, Explanation: *explained}, t, nil
}

// explain returns the explanation of the answer, and an updated trial. For a new object, the answer in the returned
// trial is the object after the write that gives up fields. With a handover, the trial also gets the explanation of the
// apply alone.
func (t trial) explain() (*explain.Explanation, trial, error) {
	explained, err := t.applied()
	if err == nil && t.live == nil {
		t.answer, err = t.givenUp(explained, trial.applied)
	}
	if err == nil && t.handover != nil {
		t.then = explained
		var whole explain.Explanation
		whole, err = t.handover.Whole(explained, t.answer.Object, t.sensitive())
		explained = &whole
	}
	if err != nil {
		return nil, t, fmt.Errorf("%s: %w", t.id, err)
	}
	return explained, t, nil
}

// applied explains the apply of the manifest after the handover.
func (t trial) applied() (*explain.Explanation, error) {
	return explain.Apply(t.input(t.handover.Of(t.live)))
}

// givenUp returns the created object after the write that gives up fields. The argument create is the explanation of
// the create. givenUp replaces its Before, After and Ownership with those after the second write. explained returns the
// explanation of a trial.
func (t trial) givenUp(
	create *explain.Explanation, explained func(trial) (*explain.Explanation, error),
) (*unstructured.Unstructured, error) {
	wanted := handover.Wanted{Applier: t.applier(), GiveUp: t.request.GiveUp, Manifest: t.request.Manifest.Object}
	made, err := handover.Created(t.answer, wanted)
	if err != nil || made == t.answer {
		return t.answer, err
	}
	t.answer = made
	then, err := explained(t)
	if err == nil {
		create.Before, create.After, create.Ownership = then.Before, then.After, then.Ownership
	}
	return made, err
}

// input returns the input for the explanation of an apply to the live object.
func (t trial) input(live *unstructured.Unstructured) explain.Input {
	return explain.Input{
		Manifest: content(t.manifest), Live: content(live), Was: content(cmp.Or(t.request.was, t.live)),
		Answer: content(t.answer), Manager: t.options.FieldManager, Subresource: t.request.Subresource,
		Prior: t.request.Prior, Unknown: t.prepared.Unknown, Sensitive: t.sensitive(), Ignored: t.outgoing.Fields,
		Tools: t.options.Tools, Records: t.server.Records(),
	}
}

// unexplained returns the explanation of a plan without a successful dry run. It has only the unknown fields.
func (t trial) unexplained() explain.Explanation {
	return explain.Explanation{Unknown: t.prepared.Unknown.Paths()}
}

// deferred returns a plan that can't be made yet, or only in part.
func deferred(deferral Deferral, reason string, explained explain.Explanation) *Plan {
	return &Plan{Action: ActionDeferred, Deferral: deferral, Reason: reason, Explanation: explained}
}

// deferToType returns the plan for a kind that the server doesn't serve.
func (t trial) deferToType() *Plan {
	kind := foreign.Text(t.id.APIVersion + " " + t.id.Kind)
	return deferred(DeferralTypeNotServed, fmt.Sprintf("the server doesn't serve %s", kind), t.unexplained())
}

// deferToNamespace returns the plan for an object in a namespace that doesn't exist.
func (t trial) deferToNamespace() *Plan {
	reason := fmt.Sprintf("namespace %q doesn't exist", foreign.Text(t.id.Namespace))
	return deferred(DeferralNamespaceNotFound, reason, t.unexplained())
}
