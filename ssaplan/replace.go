package ssaplan

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/immutability"
	"github.com/ssaplan/primitives/ssaplan/deletion"
	"github.com/ssaplan/primitives/ssaplan/internal/applier"
	"github.com/ssaplan/primitives/ssaplan/internal/deleter"
	"github.com/ssaplan/primitives/ssaplan/write"
)

// Replace carries out a plan with the action Replace: it deletes the old object with its UID as precondition, waits
// until it is gone, and creates the new object. It waits until the deadline of ctx; without a deadline, it waits as
// long as the finalizers take.
//
// Before it deletes anything, it checks the plan again. If fields can't change in place, it makes a new plan. If the
// new plan differs or has more hazards, the error wraps a [ChangedError]. If the identity changes, Replace sends a dry
// run of the create instead, and compares the hazards. It stops if the old object now has data whose loss isn't one of
// the plan's hazards; delete such an object in another way. If another client creates the new object meanwhile, Replace
// returns an error and doesn't take the object over.
//
// Every error is a [write.ReplaceError], which says how far the replacement got. The exceptions are errors about a plan
// that can't be carried out: it is nil, has another action or unknown values, or was read from JSON. A second call with
// the same plan continues where the first one stopped. If the new object already exists as planned, it is returned. In
// another process, make a new plan: if its action is Create, the old object is gone, and [Planner.Apply] creates the
// new one.
func (p *Planner) Replace(ctx context.Context, plan *Plan,
	options deletion.Options) (*unstructured.Unstructured, error) {
	if plan == nil {
		return nil, errors.New("ssaplan: no plan to carry out")
	}
	if plan.Action != ActionReplace {
		return nil, fmt.Errorf("%s: a plan with the action %s is not a replacement", plan.Object, plan.Action)
	}
	if err := plan.complete(); err != nil {
		return nil, err
	}
	old := deletion.Request{
		Object: plan.Replacement.Old, UID: plan.Replacement.UID, Replaced: true,
		Propagation: cmp.Or(options.Propagation, plan.Replacement.Propagation),
	}
	r := &replacer{planner: p, plan: plan, old: p.deleter(old, options)}
	obj, err := r.run(ctx)
	if err != nil {
		return nil, r.stopped(err)
	}
	return obj, nil
}

type replacer struct {
	planner *Planner
	plan    *Plan
	old     *deleter.Deleter
	stage   write.Stage
	created write.Outcome // the outcome of the create
}

func (r *replacer) stopped(err error) error {
	stopped := &write.ReplaceError{Old: r.plan.Replacement.Old, New: r.plan.Object, Stage: r.stage,
		Outcome: write.OutcomeNotSent}
	switch {
	case r.stage == write.StageCreating:
		stopped.Outcome = cmp.Or(r.created, write.OutcomeNotSent)
	case r.stage == write.StageDeleting && r.old.Accepted:
		stopped.Stage, stopped.Outcome, stopped.Finalizers = write.StageWaiting, write.OutcomeDone, r.old.Finalizers
	case r.stage == write.StageDeleting:
		stopped.Outcome = cmp.Or(r.old.Outcome, write.OutcomeNotSent)
	}
	if stopped.Stage == write.StageCreating && errors.As(err, new(*applier.TakenError)) {
		stopped.Advice = "the old object is gone"
	}
	stopped.Err = r.planner.Redactor(r.plan.basis.request.Manifest, r.plan.basis.live, r.old.Seen).Error(err)
	return stopped
}

func (r *replacer) run(ctx context.Context) (*unstructured.Unstructured, error) {
	r.stage = write.StageDeleting // an earlier call may have started the deletion
	old, err := r.old.Look(ctx)
	if errors.Is(err, write.ErrRecreated) {
		if made := r.made(ctx); made != nil {
			return made, nil
		}
	}
	if err != nil {
		return nil, err
	}
	if old != nil && old.GetDeletionTimestamp() == nil {
		r.stage = write.StageChecking
		if err := r.check(ctx, old); err != nil {
			return nil, err
		}
	}
	r.stage = write.StageDeleting
	if err := r.old.Finish(ctx, old); err != nil {
		return nil, err
	}
	r.stage = write.StageCreating
	return r.create(ctx)
}

// check returns an error if the new object can't be created after the deletion, or if the deletion destroys more than
// the plan says.
func (r *replacer) check(ctx context.Context, old *unstructured.Unstructured) error {
	goes, err := r.old.PlanFor(ctx, old)
	if err == nil {
		err = goes.Refusal
	}
	if err != nil {
		return r.planner.failure(r.plan.Replacement.Old, "dry run of the delete", err)
	}
	if r.plan.Replacement.Old == r.plan.Object {
		now, err := r.planner.replan(ctx, r.plan, old)
		if err == nil && now.Replacement.unproven != nil {
			err = r.planner.failureOf(r.plan, "dry run of the create", now.Replacement.unproven)
		}
		return err
	}
	// Only losses count. Other hazards, such as finalizers and owners, may be missing in the plan, if it was made
	// without reading the old object.
	if lost := immutability.UnnamedLoss(goes.Hazards, r.plan.Replacement.Hazards); len(lost) > 0 {
		return fmt.Errorf("%s: the plan doesn't say so: delete %s yourself if that is meant, then replace again",
			lost[0], r.plan.Replacement.Old)
	}
	write, err := r.planner.write(ctx, r.plan, nil)
	if err == nil {
		err = write.Try(ctx)
	}
	switch {
	case err == nil:
		return nil
	case !applier.LostRace(err):
		return r.planner.failureOf(r.plan, "dry run", err)
	}
	now, err := r.taken(ctx, err)
	if r.isOld(now) {
		return nil
	}
	return err
}

// isOld reports whether the object at the place of the new object is the old object, under another version of the API
// group. The server must also accept the manifest for it.
func (r *replacer) isOld(now *Plan) bool {
	return now != nil && now.basis.live != nil && string(now.basis.live.GetUID()) == r.plan.Replacement.UID &&
		(now.Action == ActionNoOp || now.Action == ActionUpdate)
}

// create creates the new object. It returns an error if another object already has its identity.
func (r *replacer) create(ctx context.Context) (*unstructured.Unstructured, error) {
	obj, failure := r.planner.send(ctx, r.plan, nil)
	if failure == nil {
		r.created = write.OutcomeDone
		return r.planner.giveUpCreated(ctx, r.plan, obj)
	}
	r.created = failure.Outcome
	if !applier.LostRace(failure) {
		return nil, r.planner.failureOf(r.plan, "apply", failure.Err)
	}
	now, err := r.taken(ctx, failure.Err)
	if now != nil && now.Action == ActionCreate { // no object exists, so the refusal had another reason
		err = r.planner.failureOf(r.plan, "apply", failure.Err)
	}
	return nil, err
}

// taken returns the plan for the object that already has the identity of the new object, and an error that describes
// this.
func (r *replacer) taken(ctx context.Context, refusal error) (*Plan, error) {
	request := r.plan.basis.request
	request.Prior, request.Live = nil, nil
	now, err := r.planner.Plan(ctx, request)
	if err != nil {
		return nil, fmt.Errorf("another object is there already: %w", err)
	}
	return now, &applier.TakenError{Action: string(now.Action), Reason: now.Reason, Err: refusal}
}

// made returns the existing object if it is the new object, and otherwise nil. It is the new object if this manager
// applied it, and another apply of the same patch would change nothing.
func (r *replacer) made(ctx context.Context) *unstructured.Unstructured {
	write, err := r.planner.write(ctx, r.plan, nil)
	if err != nil {
		return nil
	}
	return write.Made(ctx)
}
