package ssaplan

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/projection/foreign"
	"github.com/ssaplan/primitives/ssaplan/internal/applier"
	"github.com/ssaplan/primitives/ssaplan/internal/handover"
	"github.com/ssaplan/primitives/ssaplan/internal/liveobject"
	"github.com/ssaplan/primitives/ssaplan/internal/precondition"
	"github.com/ssaplan/primitives/ssaplan/write"
)

// Apply sends exactly the request of the plan, and returns the object in the server's answer. For a plan without
// changes it sends nothing and returns a copy of the live object.
//
// The UID and resourceVersion of the planned object are preconditions of the request. If the object changed meanwhile,
// Apply plans again. It goes on only if the new plan is the same, or if the object is already as planned; otherwise the
// error is a [ChangedError] with the new plan. If others keep changing other parts of the object, it retries until ctx
// ends. If only the status changed, or if others write again and again, the request is sent without force and without a
// resourceVersion. Such a request can't take fields from other managers. If the plan takes fields, a handover
// ([fieldowner.Handover]) takes them first. A handover is only written if the fields still have the planned owners and
// values. If the plan creates the object, but others create it first, Apply returns an error and doesn't take the
// object over.
//
// Every error except a [ChangedError] is a [write.ApplyError], which says whether the write happened. If the object
// changed between a handover and the apply after it, the write.ApplyError wraps the ChangedError. If the answer was
// lost, Apply reads the object, even if ctx has ended. If the object is unchanged, it reads again half a second later.
// If the object is as planned, Apply returns no error. No request is sent twice, unless the server rejected it because
// the object had changed, or throttled it ([Options.ThrottleRetries]). If the server accepts the write without changing
// anything, the error wraps [write.ErrNoEffect].
//
// [Plan.Differences] reports how the returned object differs from the plan.
//
// Plans with the action Replace need [Planner.Replace]. Plans with the action Conflict or Deferred can't be applied,
// nor can plans with [Request].Unknown fields.
func (p *Planner) Apply(ctx context.Context, plan *Plan) (*unstructured.Unstructured, error) {
	if plan == nil {
		return nil, &write.ApplyError{Outcome: write.OutcomeNotSent, Err: errors.New("ssaplan: no plan to apply")}
	}
	if err := plan.applicable(); err != nil {
		return nil, &write.ApplyError{Object: plan.Object, Outcome: write.OutcomeNotSent, Err: err}
	}
	attempts := applier.NewAttempts(ctx)
	for plan.Action != ActionNoOp {
		obj, err := p.carryOut(ctx, plan)
		switch {
		case err == nil && plan.basis.taking != nil:
			plan = plan.afterTaking(obj)
			continue
		case err == nil && plan.basis.handover == nil:
			return p.giveUpCreated(ctx, plan, obj)
		case err == nil:
			plan = plan.afterHandover()
		case !applier.LostRace(err) || plan.isUnguarded() || !attempts.Again(plan.basis.live):
			return nil, p.notApplied(plan, err)
		}
		if asReviewed := p.movedElsewhere(ctx, plan, err); asReviewed != nil {
			plan = asReviewed
			continue
		}
		if err != nil && precondition.IsOutdated(err) {
			plan = plan.rebasedOn(plan.basis.live)
		}
		now, failed := p.replan(ctx, plan, obj)
		switch {
		case failed != nil && obj != nil && plan.Action == ActionNoOp && !plan.isOutdatedBy(failed):
			return obj, nil // after this handover, no apply is needed
		case failed != nil && err != nil && err.Outcome == write.OutcomeUnknown: // still unknown after the new plan
			return nil, p.notApplied(plan, err)
		case failed != nil && plan.haveFieldsChangedOwners():
			return nil, handover.NotApplied(plan.Object, failed)
		case errors.As(failed, new(*ChangedError)):
			return nil, failed
		case failed != nil:
			return nil, &write.ApplyError{Object: plan.Object, Outcome: write.OutcomeRefused, Err: failed,
				Advice: applier.Advice(failed)}
		}
		plan = now
	}
	return plan.basis.live.DeepCopy(), nil
}

// movedElsewhere returns the plan for the new version of the object after the server rejected the old resourceVersion.
// In the first case, others have written only the status. In the second case, Apply has just made the plan again
// (isReviewed), and others have written only values that the plan doesn't mention. In all other cases, movedElsewhere
// returns nil.
func (p *Planner) movedElsewhere(ctx context.Context, plan *Plan, failure *applier.Failure) *Plan {
	if failure == nil || failure.Outcome != write.OutcomeRefused || !precondition.IsOutdated(failure) ||
		plan.Subresource != "" {
		return nil
	}
	target, err := p.locate(ctx, plan.Object, plan.Subresource)
	if err != nil {
		return nil
	}
	now, err := target.Live(ctx)
	if err != nil || !liveobject.SameButStatus(plan.basis.live, now) &&
		!(plan.basis.isReviewed && plan.isUntouched(now)) {
		return nil
	}
	after := plan.rebasedOn(now)
	after.basis.anyVersion = true
	switch again := after.basis.handover; {
	case again != nil:
		if after.basis.handover = again.Again(now); after.basis.handover == nil {
			return nil
		}
	case after.basis.request.lostRaces > 1 && after.takesFields() && !after.basis.hasTaken:
		wanted := handover.Wanted{Applier: plan.applier(), Forced: plan.basis.result}
		if after.basis.taking, err = handover.Find(now, wanted); err != nil {
			return nil
		}
	}
	return after
}

// carryOut sends the next request of the plan: the handover if there is one, and otherwise the apply.
func (p *Planner) carryOut(ctx context.Context, plan *Plan) (*unstructured.Unstructured, *applier.Failure) {
	handover := cmp.Or(plan.basis.handover, plan.basis.taking)
	if handover == nil {
		return p.send(ctx, plan, plan.basis.live)
	}
	target, err := p.locate(ctx, plan.Object, plan.Subresource)
	if err != nil {
		return nil, applier.NotSent(err)
	}
	return handover.Send(ctx, target, plan.basis.request.lostRaces > 0)
}

// applicable returns an error if Apply can't carry out the plan.
func (plan *Plan) applicable() error {
	if err := plan.complete(); err != nil {
		return err
	}
	switch plan.Action {
	case ActionNoOp, ActionCreate, ActionUpdate:
		return nil
	case ActionReplace:
		return fmt.Errorf("%s: a plan to replace the object needs Replace, which deletes it first", plan.Object)
	}
	return fmt.Errorf("%s: a plan with the action %s can't be applied: %s", plan.Object, plan.Action,
		foreign.Text(plan.Reason))
}

// notApplied returns the error for a failed apply of the plan.
func (p *Planner) notApplied(plan *Plan, failure *applier.Failure) error {
	doing := "apply"
	if plan.Action == ActionCreate && failure.Outcome == write.OutcomeRefused && applier.LostRace(failure) {
		doing = "apply: the object was created after the plan was made: plan again"
	}
	advice := failure.Advice
	if plan.haveFieldsChangedOwners() {
		advice += "; fields changed owners before the apply"
	}
	err := p.failureOf(plan, doing, failure.Err)
	return &write.ApplyError{Object: plan.Object, Outcome: failure.Outcome, Err: err, Advice: advice}
}
