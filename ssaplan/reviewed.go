package ssaplan

// This file updates a reviewed plan while it is carried out: after a handover, or after others wrote the object.

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/ssaplan/explain"
	"github.com/ssaplan/primitives/ssaplan/internal/liveobject"
)

// replan makes a new plan for an outdated plan. live is the object if it was just read, and otherwise nil. If the new
// plan does something else, the error is a [ChangedError], unless the object is already as planned.
func (p *Planner) replan(ctx context.Context, outdated *Plan, live *unstructured.Unstructured) (*Plan, error) {
	request := outdated.basis.request
	request.Live = live
	plan, err := p.Plan(ctx, request)
	if err != nil {
		return nil, err
	}
	isDone := plan.Action == ActionNoOp && outdated.Action == ActionUpdate &&
		plan.basis.patch.Same(outdated.basis.patch)
	if !isDone && !plan.matches(outdated) {
		return nil, &ChangedError{plan}
	}
	plan.basis.isReviewed, plan.basis.anyVersion = true, request.lostRaces > 1
	return plan, nil
}

// isOutdatedBy is for a plan that is a no-op. It reports whether err is a [ChangedError] with a plan that does more. A
// rewrite with the same values and owners doesn't count. The server may rewrite the object because a handover changes
// the order of the entries in managedFields. A dry run before the handover can't show this order.
func (plan *Plan) isOutdatedBy(err error) bool {
	var changed *ChangedError
	if !errors.As(err, &changed) {
		return false
	}
	now := *changed.Plan
	if now.Action == ActionUpdate && now.OnlyRewrites() {
		now.Action, now.NoOp = plan.Action, plan.NoOp
	}
	return !now.matches(plan)
}

// isUntouched reports whether the object still has its owners, and the values of the fields that the plan mentions.
// Other values may have changed since the plan was made.
func (plan *Plan) isUntouched(now *unstructured.Unstructured) bool {
	live := plan.basis.live
	if live == nil || now == nil || live.GetUID() != now.GetUID() ||
		(live.GetDeletionTimestamp() == nil) != (now.GetDeletionTimestamp() == nil) {
		return false
	}
	before, err := fieldowner.Read(live.Object)
	if err != nil {
		return false
	}
	after, err := before.ReadOther(now.Object)
	if err != nil || !after.Equal(before) {
		return false
	}
	mentioned := plan.mentioned().Union(before.Fields(plan.applier().Is))
	return !slices.ContainsFunc(liveobject.Changed(live, now), mentioned.Touches)
}

// mentioned returns the fields that the plan mentions.
func (plan *Plan) mentioned() projection.FieldSet {
	paths := slices.Concat(plan.Assigned, plan.Generated, plan.Unknown)
	for _, c := range plan.Changes {
		paths = append(paths, c.Path)
	}
	for _, t := range plan.Ownership {
		paths = append(paths, t.Path)
	}
	for _, d := range plan.Dropped {
		paths = append(paths, d.Path)
	}
	for _, i := range plan.Ignored {
		paths = append(paths, i.Path)
	}
	return plan.Before.Fields.Union(plan.After.Fields).Union(projection.NewFieldSet(paths...))
}

// afterTaking returns the plan for the object after the handover that took fields from others. The request of this plan
// needs no force.
func (plan *Plan) afterTaking(now *unstructured.Unstructured) *Plan {
	after, basis := *plan, *plan.basis
	basis.live, basis.taking, basis.hasTaken, after.basis = now, nil, true, &basis
	return &after
}

// rebasedOn returns the plan for the object now, after the server rejected the plan's request because others had
// written the object.
func (plan *Plan) rebasedOn(now *unstructured.Unstructured) *Plan {
	after, basis := *plan, *plan.basis
	basis.live, basis.isReviewed, basis.taking, after.basis = now, false, nil, &basis
	// others have written since the reviewed plan, so a comparison with its version isn't possible
	basis.madeVersion = &atomic.Pointer[string]{}
	basis.request.lostRaces++
	return &after
}

// afterHandover returns the part of the reviewed plan for the apply after the handover.
func (plan *Plan) afterHandover() *Plan {
	after, basis := *plan, *plan.basis
	basis.handover, basis.request.was, after.basis, after.Explanation = nil, basis.live, &basis, *basis.then
	basis.madeVersion = &atomic.Pointer[string]{} // others may write between the two writes
	if after.NoOp {
		after.Action = ActionNoOp
	}
	return &after
}

// haveFieldsChangedOwners reports whether a handover was written before the apply that follows.
func (plan *Plan) haveFieldsChangedOwners() bool {
	return plan.basis.request.was != nil || plan.basis.hasTaken
}

// takesFields reports whether the plan takes fields from other managers.
func (plan *Plan) takesFields() bool {
	return slices.ContainsFunc(plan.Ownership,
		func(t fieldowner.Transfer) bool { return t.Kind == fieldowner.TransferTaken })
}

// isUnguarded reports whether the plan creates an object, and the request doesn't have the Existing rule
// ExistingRefuse. If others create the object of such a plan first, Apply fails and doesn't plan again.
func (plan *Plan) isUnguarded() bool {
	return plan.Action == ActionCreate && plan.basis.request.Existing != explain.ExistingRefuse
}
