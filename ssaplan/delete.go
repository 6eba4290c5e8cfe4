package ssaplan

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ssaplan/primitives/ssaplan/deletion"
	"github.com/ssaplan/primitives/ssaplan/explain"
	"github.com/ssaplan/primitives/ssaplan/internal/deleter"
	"github.com/ssaplan/primitives/ssaplan/release"
)

// What deletions are made of, which package deletion explains.
type (
	// DeleteRequest is what to plan the deletion of.
	DeleteRequest = deletion.Request
	// DeletePlan is what deleting an object will do.
	DeletePlan = deletion.Plan
	// DeleteOptions say how to delete, and to wait for it. The zero value works.
	DeleteOptions = deletion.Options
	// DeleteError describes why a deletion did not end with the object gone.
	DeleteError = deletion.Error
)

// ErrRecreated is [deletion.ErrRecreated].
var ErrRecreated = deletion.ErrRecreated

// PlanDelete returns what deleting an object will do. It changes nothing on the server: it reads the object, has the
// server try the delete, and counts what is in a namespace, or the objects of a definition, as far as the caller may
// list them.
//
// It takes three requests, the last of which sees that the second was no more than a try; of a namespace one more for
// each kind that can be in it, of a definition one more. That the object is gone, is being deleted, is another one, may
// not be deleted or may not be read is a [deletion.Action]. An error means that no plan could be made; it names the
// object and wraps the server's answer.
func (p *Planner) PlanDelete(ctx context.Context, request DeleteRequest) (*DeletePlan, error) {
	if err := p.expired(); err != nil {
		return nil, p.failure(request.Object, "plan to delete", err)
	}
	d := p.deleter(request, DeleteOptions{})
	d.Count = true
	plan, err := d.Plan(ctx)
	if err != nil {
		return nil, p.failure(request.Object, "plan to delete", err, d.Seen)
	}
	return plan, nil
}

// ApplyDelete carries out a plan of [Planner.PlanDelete], and returns when the object is gone. The deadline is that of
// ctx; without one it waits as long as the finalizers take. It plans again first, and the error is a
// [deletion.ChangedError] if the plan doesn't cover what that finds: another hazard, finalizer or warning, or objects
// of another kind in the namespace. Calling it again with the same plan goes on waiting. Every other error is a
// [DeleteError], but for a nil plan.
func (p *Planner) ApplyDelete(ctx context.Context, plan *DeletePlan, options DeleteOptions) error {
	if plan == nil {
		return errors.New("ssaplan: no plan to carry out")
	}
	request := DeleteRequest{Object: plan.Object, UID: plan.UID, Propagation: plan.Propagation, Replaced: plan.Replaced}
	if options.Propagation != "" && options.Propagation != plan.Propagation {
		return &DeleteError{Object: plan.Object, Err: fmt.Errorf("%s: the plan is for propagation policy %s, not %s: plan again",
			plan.Object, plan.Propagation, options.Propagation)}
	}
	d := p.deleter(request, options)
	d.Count = plan.Contents != nil
	return p.delete(ctx, d, plan)
}

// Delete plans and deletes the object that prior remembers, guarded by its UID, and returns when it is gone; an object
// that is gone already is no error. The deadline is that of ctx; without one it waits as long as the finalizers take.
// Without a known UID nothing is deleted. Hosts that show first what goes with the object take [Planner.PlanDelete].
//
// Every error but that of a nil prior, and of one of a subresource, is a [DeleteError]; it wraps [ErrRecreated] if the
// remembered object is gone and there is another one in its place.
func (p *Planner) Delete(ctx context.Context, prior *explain.State, options DeleteOptions) error {
	if prior == nil {
		return errors.New("ssaplan: no state that says what to delete")
	}
	if prior.Subresource != "" {
		return fmt.Errorf("%s: the state is of its %s alone, which can't be deleted", prior.Identity, prior.Subresource)
	}
	request := DeleteRequest{Object: prior.Identity, UID: prior.UID, Propagation: options.Propagation}
	return p.delete(ctx, p.deleter(request, options), nil)
}

// PlanRelease returns what it means to let go of the object that prior remembers: the manager of the state owns nothing
// then, and all values stay. [release.Plan.Apply] does it. It takes two requests, the second of which has the server
// try it.
func (p *Planner) PlanRelease(ctx context.Context, prior *explain.State) (*release.Plan, error) {
	if prior == nil {
		return nil, errors.New("ssaplan: no state that says what to release")
	}
	target, err := p.locate(ctx, prior.Identity, "")
	if err != nil {
		return nil, p.failure(prior.Identity, "plan to release", err)
	}
	return release.For(ctx, target, prior, p.Guard)
}

func (p *Planner) delete(ctx context.Context, d *deleter.Deleter, reviewed *DeletePlan) error {
	object := d.Request.Object
	err := p.expired()
	if err == nil {
		err = d.Delete(ctx, reviewed)
	}
	if changed := (*deletion.ChangedError)(nil); err == nil || errors.As(err, &changed) {
		return err
	}
	outcome := cmp.Or(d.Outcome, OutcomeNotSent)
	if d.Accepted {
		outcome = OutcomeDone
	}
	return &DeleteError{
		Object: object, Outcome: outcome, Accepted: d.Accepted, Finalizers: d.Finalizers, Err: p.failure(object, "delete", err, d.Seen),
	}
}

func (p *Planner) deleter(request DeleteRequest, options DeleteOptions) *deleter.Deleter {
	id := request.Object
	find := func(ctx context.Context) (deleter.Target, error) {
		t, err := p.locate(ctx, id, "")
		if err != nil {
			return deleter.Target{Identity: id}, err
		}
		return deleter.Target{Identity: t.Identity, Resource: t.Resource, Live: t.Live}, nil
	}
	return &deleter.Deleter{Request: request, Options: options, Server: p.server, Find: find, Guard: p.Guard}
}

// propagation returns the policy by which a replacement deletes.
func (r Request) propagation() metav1.DeletionPropagation {
	return cmp.Or(r.Propagation, metav1.DeletePropagationBackground)
}
