package ssaplan

import (
	"context"
	"fmt"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/ssaplan/primitives/authresilience"
	"github.com/ssaplan/primitives/identity"
)

// Stage is how far a replacement got.
type Stage string

// The stages of [Planner.Replace], in their order.
const (
	// Checking: nothing has been changed.
	Checking Stage = "checking"
	// Deleting: the old object has not been deleted, as far as is known.
	Deleting Stage = "deleting"
	// Waiting: the server accepted the delete, and the old object is still there.
	Waiting Stage = "waiting"
	// Creating: the old object is gone, and the new one is not there yet.
	Creating Stage = "creating"
)

// ReplaceError says where a replacement stopped. Calling Replace again goes on from there.
type ReplaceError struct {
	Old, New identity.Identity
	Stage    Stage
	// Finalizers are what the delete waited for, if the stage is Waiting.
	Finalizers []string
	Err        error
}

func (e *ReplaceError) Error() string {
	text := fmt.Sprintf("%s: replace stopped while %s: ", e.New, e.Stage)
	if e.Old != e.New {
		text = fmt.Sprintf("%s: replace of %s stopped while %s: ", e.New, e.Old, e.Stage)
	}
	if len(e.Finalizers) > 0 {
		text += fmt.Sprintf("the delete waits for finalizers %s: ", strings.Join(e.Finalizers, ", "))
	}
	return text + e.Err.Error() + "; " + stageAdvice[e.Stage]
}

// Unwrap returns the cause.
func (e *ReplaceError) Unwrap() error { return e.Err }

var stageAdvice = map[Stage]string{
	Checking: "nothing was changed",
	Deleting: "the old object may still be there: plan again, then replace again",
	Waiting:  "the old object is being deleted: replace again to wait on",
	Creating: "the old object is gone and the new one not created: replace again to create it",
}

// Replace carries out a plan with the action Replace: it deletes the old object, guarded by its UID, waits until it is
// gone, and creates the new one. The deadline is that of ctx; without one it waits as long as the finalizers take.
//
// Before it deletes anything it has the server try the create, as far as that can be tried while the old object exists.
// An object that takes the new one's place meanwhile is never adopted. An error is a [ReplaceError], which tells how far
// the replacement got; calling Replace again with the same plan goes on from there, also in another process that made the
// plan anew and got Create.
func (p *Planner) Replace(ctx context.Context, plan *Plan, options DeleteOptions) (*unstructured.Unstructured, error) {
	if plan.Action != Replace {
		return nil, fmt.Errorf("%s: a plan with the action %s is not a replacement", plan.Object, plan.Action)
	}
	r := &replacer{planner: p, plan: plan, options: options, stage: Checking}
	obj, err := r.run(ctx)
	if err != nil {
		err = hideSecrets(err, plan.manifest, plan.live)
		return nil, &ReplaceError{plan.Replacement.Old, plan.Object, r.stage, r.finalizers, err}
	}
	return obj, nil
}

type replacer struct {
	planner    *Planner
	plan       *Plan
	options    DeleteOptions
	stage      Stage
	finalizers []string
}

func (r *replacer) run(ctx context.Context) (*unstructured.Unstructured, error) {
	if err := r.check(ctx); err != nil {
		return nil, err
	}
	old, err := r.planner.locate(ctx, r.plan.Replacement.Old)
	if err != nil {
		return nil, err
	}
	r.stage = Deleting
	if err := r.delete(ctx, old); err != nil {
		return nil, err
	}
	r.stage, r.finalizers = Creating, nil
	return r.create(ctx, r.plan.Patch.Options)
}

// check has the server try to create an object of another identity, guarded like the real create. Of one of the same
// identity the probe that made the plan has found out that it can be created.
func (r *replacer) check(ctx context.Context) error {
	if r.plan.Replacement.Old == r.plan.Object {
		return nil
	}
	options := r.plan.Patch.Options
	options.DryRun = []string{metav1.DryRunAll}
	_, err := r.create(ctx, options)
	return err
}

// delete deletes the old object unless that has happened, and returns when it is gone.
func (r *replacer) delete(ctx context.Context, old *target) error {
	for {
		live, err := old.live(ctx)
		if err != nil || live == nil {
			return err
		}
		if uid := string(live.GetUID()); uid != r.plan.Replacement.UID {
			return fmt.Errorf("%w: the object there has the uid %q, the plan is about %q: plan again", ErrRecreated, uid, r.plan.Replacement.UID)
		}
		if live.GetDeletionTimestamp() == nil && r.stage == Deleting {
			if err := r.sendDelete(ctx, old, live.GetUID()); err != nil {
				return err
			}
			r.stage = Waiting
			continue
		}
		r.stage, r.finalizers = Waiting, live.GetFinalizers()
		if err := r.wait(ctx, old); err != nil {
			return err
		}
	}
}

func (r *replacer) sendDelete(ctx context.Context, old *target, uid types.UID) error {
	options := metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}}
	if r.options.Propagation != "" {
		options.PropagationPolicy = &r.options.Propagation
	}
	err := old.resource.Delete(ctx, old.identity.Name, options)
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// wait reports that the object is still there, and waits before the next look.
func (r *replacer) wait(ctx context.Context, old *target) error {
	if r.options.Progress != nil {
		r.options.Progress(old.identity, r.finalizers)
	}
	interval := r.options.PollInterval
	if interval <= 0 {
		interval = time.Second
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(interval):
		return nil
	}
}

func (r *replacer) create(ctx context.Context, options metav1.PatchOptions) (*unstructured.Unstructured, error) {
	create := *r.plan
	create.Action, create.Patch.Options = Create, options
	obj, err := r.planner.send(ctx, &create)
	if authresilience.Classify(err) == authresilience.Outdated {
		return nil, fmt.Errorf("an object of the new identity exists: plan again: %w", err)
	}
	return obj, err
}
