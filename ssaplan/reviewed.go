package ssaplan

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

// replan makes an outdated plan again, with the live object if that was just read. It is an error if the new plan does
// something else, unless the object is already as planned.
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
	plan.basis.isReviewed, plan.basis.anyVersion = true, request.outrun > 1
	return plan, nil
}

// isOutdatedBy reports whether an error of planning again says that applying would do something by now, given a plan to
// do nothing. That a server would write the object again, with the same values and owners, is nothing to review: it may
// do so because of the order that the times of writers give the record, and no dry run from before fields change owners
// shows the order of after it.
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

// isUntouched reports whether the object still has the owners and the values that the plan speaks of. Other values may
// have changed since the plan was made.
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
	spoken := plan.spoken().Union(before.Fields(plan.applier().Is))
	return !slices.ContainsFunc(liveobject.Changed(live, now), spoken.Touches)
}

// spoken returns the fields that the plan speaks of.
func (plan *Plan) spoken() projection.FieldSet {
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

// afterTaking returns the plan for the object whose fields were taken from others, so that its request needs no force.
func (plan *Plan) afterTaking(now *unstructured.Unstructured) *Plan {
	after, basis := *plan, *plan.basis
	basis.live, basis.taking, basis.hasTaken, after.basis = now, nil, true, &basis
	return &after
}

// outrunBy returns the plan for the object as it is now, after it was refused since others had written.
func (plan *Plan) outrunBy(now *unstructured.Unstructured) *Plan {
	after, basis := *plan, *plan.basis
	basis.live, basis.isReviewed, basis.taking, after.basis = now, false, nil, &basis
	// nothing is known of what others wrote since the reviewed plan was made
	basis.madeVersion = &atomic.Pointer[string]{}
	basis.request.outrun++
	return &after
}

// afterHandover returns what was reviewed of the apply that follows when fields have changed owners.
func (plan *Plan) afterHandover() *Plan {
	after, basis := *plan, *plan.basis
	basis.handover, basis.request.was, after.basis, after.Explanation = nil, basis.live, &basis, *basis.then
	basis.madeVersion = &atomic.Pointer[string]{} // as others may write between the two writes
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

// isFree reports whether the plan creates an object, and takes over one that others create first.
func (plan *Plan) isFree() bool {
	return plan.Action == ActionCreate && plan.basis.request.Existing != explain.ExistingRefuse
}
