package ssaplan

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/projection/foreign"
	"github.com/ssaplan/primitives/ssaplan/explain"
	"github.com/ssaplan/primitives/ssaplan/internal/applier"
	"github.com/ssaplan/primitives/ssaplan/internal/handover"
	"github.com/ssaplan/primitives/ssaplan/internal/liveobject"
	"github.com/ssaplan/primitives/ssaplan/internal/precondition"
	"github.com/ssaplan/primitives/ssaplan/internal/warnings"
)

// ChangedError says that the apply would do something else than the reviewed plan says, usually because the object
// changed meanwhile. No value was written. If it is wrapped in an [ApplyError], a handover was written before, so that
// fields have changed owners.
type ChangedError struct {
	// Plan is what applying would do now.
	Plan *Plan
}

func (e *ChangedError) Error() string {
	return fmt.Sprintf("%s: changed since the plan was made; now %s (%s): review the new plan", e.Plan.Object, e.Plan.Action, foreign.Text(e.Plan.Reason))
}

// WriteOutcome is used by [OutcomeOf]. The outcome is Refused.
func (e *ChangedError) WriteOutcome() Outcome { return OutcomeRefused }

// Apply sends exactly the request of the plan, and returns the object in the server's answer. For a plan without
// changes it sends nothing and returns a copy of the live object.
//
// The UID and resourceVersion of the planned object are preconditions of the request. If the object changed meanwhile,
// Apply plans again. It goes on only if the new plan is the same, or if the object is already as planned; otherwise the
// error is a [ChangedError] with the new plan. If others keep changing other parts of the object, it retries until ctx
// ends. If only the status changed, or if others write again and again, the request is sent without force and for any
// resourceVersion. Such a request takes no field from others: if the plan does, a handover takes the fields first. A
// handover of fields ([fieldowner.Handover]) is only written if the fields still have the planned owners and values. An
// object that was created after a plan to create it is never taken over: that is an error, too.
//
// Every error except a [ChangedError] is an [ApplyError], which says whether the write happened. If a handover was
// written and the object changed before the apply that follows, the ApplyError wraps the ChangedError. If the answer
// was lost, Apply reads the object, and again half a second later if it is unchanged, even if ctx has ended. If the
// object is as planned, the apply is done, and there is no error. No request is sent twice, unless the server rejected
// it because the object had changed, or throttled it ([Options.ThrottleRetries]). If the server accepts the write
// without changing anything, the error wraps [ErrNoEffect].
//
// [Plan.Differences] reports how the returned object differs from the plan.
//
// Plans with the action Replace need [Planner.Replace]. Plans with the action Conflict or Deferred can't be applied,
// nor can plans with [Request].Unknown fields.
func (p *Planner) Apply(ctx context.Context, plan *Plan) (*unstructured.Unstructured, error) {
	if err := plan.applicable(); err != nil {
		return nil, &ApplyError{Object: plan.object(), Outcome: OutcomeNotSent, Err: err}
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
		case !applier.Outrun(err) || plan.isFree() || !attempts.Again(plan.basis.live):
			return nil, p.notApplied(plan, err)
		}
		if asReviewed := p.movedElsewhere(ctx, plan, err); asReviewed != nil {
			plan = asReviewed
			continue
		}
		if err != nil && precondition.IsOutdated(err) {
			plan = plan.outrunBy(plan.basis.live)
		}
		now, failed := p.replan(ctx, plan, obj)
		switch {
		case failed != nil && obj != nil && plan.Action == ActionNoOp && !plan.isOutdatedBy(failed):
			return obj, nil // no apply was to follow
		case failed != nil && err != nil && err.Outcome == OutcomeUnknown: // whatever became of the object since
			return nil, p.notApplied(plan, err)
		case failed != nil && plan.haveFieldsChangedOwners():
			return nil, handover.NotApplied(plan.Object, failed)
		case errors.As(failed, new(*ChangedError)):
			return nil, failed
		case failed != nil:
			return nil, &ApplyError{Object: plan.Object, Outcome: OutcomeRefused, Err: failed, Advice: applier.Advice(failed)}
		}
		plan = now
	}
	return plan.basis.live.DeepCopy(), nil
}

// giveUpCreated gives up what the plan's request names of an object that the plan created, which others may write
// meanwhile.
func (p *Planner) giveUpCreated(ctx context.Context, plan *Plan, made *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	if plan.Action == ActionUpdate || len(plan.basis.request.GiveUp) == 0 {
		return made, nil
	}
	failed := func(failure *applier.Failure) error {
		advice := "the object was created, and the fields to give up are still owned: plan and apply again"
		if failure.Outcome == OutcomeUnknown {
			advice = "the object was created, but the fields to give up may still be owned: " +
				"plan again to find out"
		}
		err := p.failureOf(plan, "give fields up", failure.Err)
		return &ApplyError{Object: plan.Object, Outcome: OutcomeDone, Err: err, Advice: advice}
	}
	wanted := handover.Wanted{Applier: plan.applier(), GiveUp: plan.basis.request.GiveUp, Manifest: plan.basis.request.Manifest.Object}
	attempts, byRecord := applier.NewAttempts(ctx), false
	for {
		target, err := p.locate(ctx, plan.Object, plan.Subresource)
		if err != nil {
			return nil, failed(applier.NotSent(err))
		}
		given, err := handover.Find(made, wanted)
		if err != nil {
			return nil, failed(applier.NotSent(err))
		}
		if given == nil {
			return made, nil
		}
		obj, failure := given.Send(ctx, target, byRecord)
		if failure == nil {
			return obj, nil
		}
		now, err := target.Live(ctx)
		isSame := err == nil && now != nil && now.GetUID() == made.GetUID()
		if !applier.Outrun(failure) || !isSame || !attempts.Again(now) {
			return nil, failed(failure)
		}
		made, byRecord = now, true
	}
}

// movedElsewhere returns the plan for the object as it is now, if the server refused the request since the object has
// another version, and nothing but its status was written, or nothing that a plan just made anew speaks of; nil
// otherwise.
func (p *Planner) movedElsewhere(ctx context.Context, plan *Plan, failure *applier.Failure) *Plan {
	if failure == nil || failure.Outcome != OutcomeRefused || !precondition.IsOutdated(failure) || plan.Subresource != "" {
		return nil
	}
	target, err := p.locate(ctx, plan.Object, plan.Subresource)
	if err != nil {
		return nil
	}
	now, err := target.Live(ctx)
	if err != nil || !liveobject.SameButStatus(plan.basis.live, now) && !(plan.basis.anew && plan.isUntouched(now)) {
		return nil
	}
	after := plan.outrunBy(now)
	after.basis.anyVersion = true
	switch again := after.basis.handover; {
	case again != nil:
		if after.basis.handover = again.Again(now); after.basis.handover == nil {
			return nil
		}
	case after.basis.request.outrun > 1 && after.takesFields() && !after.basis.taken:
		wanted := handover.Wanted{Applier: plan.applier(), Forced: plan.basis.result}
		if after.basis.taking, err = handover.Find(now, wanted); err != nil {
			return nil
		}
	}
	return after
}

// afterTaking returns the plan for the object whose fields were taken from others, so that its request needs no force.
func (plan *Plan) afterTaking(now *unstructured.Unstructured) *Plan {
	after, basis := *plan, *plan.basis
	basis.live, basis.taking, basis.taken, after.basis = now, nil, true, &basis
	return &after
}

// outrunBy returns the plan for the object as it is now, after it was refused since others had written.
func (plan *Plan) outrunBy(now *unstructured.Unstructured) *Plan {
	after, basis := *plan, *plan.basis
	basis.live, basis.anew, basis.taking, after.basis = now, false, nil, &basis
	basis.made = &atomic.Pointer[string]{} // nothing is known of what others wrote since the reviewed plan was made
	basis.request.outrun++
	return &after
}

// isUntouched reports whether the object that is there now has the owners and the values that the plan speaks of, and
// differs from the one that it was made for in nothing but values of others.
func (plan *Plan) isUntouched(now *unstructured.Unstructured) bool {
	live := plan.basis.live
	if live == nil || now == nil || live.GetUID() != now.GetUID() || (live.GetDeletionTimestamp() == nil) != (now.GetDeletionTimestamp() == nil) {
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

// takesFields reports whether somebody loses a field by what the plan does.
func (plan *Plan) takesFields() bool {
	return slices.ContainsFunc(plan.Ownership, func(t fieldowner.Transfer) bool { return t.Kind == fieldowner.TransferTaken })
}

// isFree reports whether the object is to be created, and whoever creates it first may make it what it is.
func (plan *Plan) isFree() bool {
	return plan.Action == ActionCreate && plan.basis.request.Existing != explain.ExistingRefuse
}

// carryOut sends the plan's request, or before that the one by which fields change owners.
func (p *Planner) carryOut(ctx context.Context, plan *Plan) (*unstructured.Unstructured, *applier.Failure) {
	handover := cmp.Or(plan.basis.handover, plan.basis.taking)
	if handover == nil {
		return p.send(ctx, plan, plan.basis.live)
	}
	target, err := p.locate(ctx, plan.Object, plan.Subresource)
	if err != nil {
		return nil, applier.NotSent(err)
	}
	return handover.Send(ctx, target, plan.basis.request.outrun > 0)
}

// afterHandover returns what was reviewed of the apply that follows when fields have changed owners.
func (plan *Plan) afterHandover() *Plan {
	after, basis := *plan, *plan.basis
	basis.handover, basis.request.was, after.basis, after.Explanation = nil, basis.live, &basis, *basis.then
	basis.made = &atomic.Pointer[string]{} // as others may write between the two writes
	if after.NoOp {
		after.Action = ActionNoOp
	}
	return &after
}

// haveFieldsChangedOwners reports whether a handover was written before the apply that follows.
func (plan *Plan) haveFieldsChangedOwners() bool {
	return plan.basis.request.was != nil || plan.basis.taken
}

// object returns what the plan is for, nothing if there is no plan.
func (plan *Plan) object() (id identity.Identity) {
	if plan != nil {
		id = plan.Object
	}
	return id
}

// applicable returns an error if Apply can't do what the plan says.
func (plan *Plan) applicable() error {
	if plan == nil {
		return errors.New("ssaplan: no plan to apply")
	}
	if err := plan.complete(); err != nil {
		return err
	}
	switch plan.Action {
	case ActionNoOp, ActionCreate, ActionUpdate:
		return nil
	case ActionReplace:
		return fmt.Errorf("%s: a plan to replace the object needs Replace, which deletes it first", plan.Object)
	}
	return fmt.Errorf("%s: a plan with the action %s can't be applied: %s", plan.Object, plan.Action, foreign.Text(plan.Reason))
}

// complete returns an error if the plan was made without values that weren't known: what it would write is not what is
// meant.
func (plan *Plan) complete() error {
	switch {
	case plan.basis == nil:
		return fmt.Errorf("%s: the plan wasn't made by a Planner of this program: plan again", plan.Object)
	case len(plan.Unknown) > 0:
		return fmt.Errorf("%s: plan again when these values are known: %s", plan.Object, projection.JoinPaths(plan.Unknown))
	case len(plan.basis.request.Unknown) > 0:
		return fmt.Errorf("%s: plan again when these values are known: %v", plan.Object, plan.basis.request.Unknown)
	}
	return nil
}

// replan plans again what an outdated plan was for, with the live object if that was just read. It is an error if the
// new plan says something else, but for that what was to be applied is there.
func (p *Planner) replan(ctx context.Context, outdated *Plan, live *unstructured.Unstructured) (*Plan, error) {
	request := outdated.basis.request
	request.Live = live
	plan, err := p.Plan(ctx, request)
	if err != nil {
		return nil, err
	}
	isDone := plan.Action == ActionNoOp && outdated.Action == ActionUpdate && plan.basis.patch.Same(outdated.basis.patch)
	if !isDone && !plan.matches(outdated) {
		return nil, &ChangedError{plan}
	}
	plan.basis.anew, plan.basis.anyVersion = true, request.outrun > 1
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

// matches reports whether who reviewed the other plan has reviewed this one. Both are for an object that exists.
// The requests are compared, too: the manifest may have been changed in place, or this planner have other options.
func (plan *Plan) matches(reviewed *Plan) bool {
	return plan.Action != ActionCreate && plan.Object == reviewed.Object && plan.Subresource == reviewed.Subresource && plan.Action == reviewed.Action &&
		plan.basis.patch.Same(reviewed.basis.patch) &&
		plan.basis.live.GetUID() == reviewed.basis.live.GetUID() &&
		(plan.basis.live.GetDeletionTimestamp() == nil) == (reviewed.basis.live.GetDeletionTimestamp() == nil) &&
		plan.Explanation.Same(&reviewed.Explanation) && reviewed.Replacement.Covers(plan.Replacement)
}

// send sends the plan's request, once, guarded to be for the live object in its version, or for none if live is nil.
func (p *Planner) send(ctx context.Context, plan *Plan, live *unstructured.Unstructured) (*unstructured.Unstructured, *applier.Failure) {
	write, err := p.write(ctx, plan, live)
	if err != nil {
		return nil, applier.NotSent(err)
	}
	if p.Guard(plan.basis.request.Manifest, live).Withholds() {
		ctx, _ = warnings.Collect(ctx) // the plan counted them
	}
	obj, failure := write.Send(ctx)
	if failure == nil && write.IsAlone(obj) {
		version := obj.GetResourceVersion()
		plan.basis.made.Store(&version)
	}
	return obj, failure
}

// write returns the plan's request. It doesn't take the plan's target: another Planner, with other credentials, may
// have made the plan.
func (p *Planner) write(ctx context.Context, plan *Plan, live *unstructured.Unstructured) (*applier.Write, error) {
	target, err := p.locate(ctx, plan.Object, plan.Subresource)
	if err != nil {
		return nil, err
	}
	patch := plan.basis.patch
	return &applier.Write{Target: target, Body: patch.Body, Options: patch.Options, Subresource: plan.Subresource, Live: live, AnyVersion: plan.basis.anyVersion && (plan.basis.taken || !plan.takesFields())}, nil
}

// notApplied returns the error for a failed apply of the plan.
func (p *Planner) notApplied(plan *Plan, failure *applier.Failure) error {
	doing := "apply"
	if plan.Action == ActionCreate && failure.Outcome == OutcomeRefused && applier.Outrun(failure) {
		doing = "apply: the object was created after the plan was made: plan again"
	}
	advice := failure.Advice
	if plan.haveFieldsChangedOwners() {
		advice += "; fields changed owners before the apply"
	}
	err := p.failureOf(plan, doing, failure.Err)
	return &ApplyError{Object: plan.Object, Outcome: failure.Outcome, Err: err, Advice: advice}
}

// failureOf returns the error for a request of the plan that failed.
func (p *Planner) failureOf(plan *Plan, doing string, err error) error {
	return p.failure(plan.Object, doing, err, plan.basis.request.Manifest, plan.basis.manifest, plan.basis.live)
}

// Differences returns how made, the object that Apply or Replace returned, differs from the planned object: Before is
// the planned value, After the value in made. Usually there are none; see [explain.Explanation.Unforeseen] for their
// causes and what is compared. Fields of other owners are compared, too, if Apply sent a single write that was guarded
// by the planned resourceVersion. If the plan has no [Plan.Result], there are none.
func (plan *Plan) Differences(made *unstructured.Unstructured) ([]projection.Difference, error) {
	if plan.basis == nil || plan.Action == ActionNoOp || plan.basis.result == nil || made == nil {
		return nil, nil
	}
	version := plan.basis.made.Load()
	alone := version != nil && *version == made.GetResourceVersion()
	differences, err := plan.Unforeseen(plan.basis.result.Object, made.Object, plan.applier(), alone, plan.basis.sensitive)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", plan.Object, err)
	}
	return differences, nil
}

// applier returns who applies.
func (plan *Plan) applier() fieldowner.Applier {
	return fieldowner.Applier{Manager: plan.basis.patch.Options.FieldManager, Subresource: plan.Subresource}
}

// State returns the state to store after the plan was applied; obj is the object that Apply returned. It has the fields
// of the plan's After. A sensitive value that is the same as in the request's Prior has the same digest.
func (plan *Plan) State(obj *unstructured.Unstructured) (*explain.State, error) {
	switch {
	case plan.basis == nil || plan.basis.manifest == nil:
		return nil, fmt.Errorf("%s: the plan is %s and was not applied", plan.Object, plan.Action)
	case obj == nil:
		return nil, fmt.Errorf("%s: no object to remember", plan.Object)
	}
	applier := plan.applier()
	state, err := explain.NewState(plan.basis.manifest.Object, obj.Object, applier, plan.basis.request.Prior, plan.basis.sensitive...)
	if err != nil {
		return nil, err
	}
	state.Identity = plan.Object // a scale has a kind of its own
	state.Adopted = explain.IsAdopted(content(plan.basis.live), obj.Object, applier, plan.basis.request.Prior)
	ignored := slices.Concat(plan.basis.request.Ignore, plan.basis.request.GiveUp)
	return state.Without(obj.Object, plan.LeftFields(), ignored...).WithCleared(plan.basis.request.Clear), nil
}
