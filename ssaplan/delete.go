package ssaplan

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/ssaplan/primitives/ssaplan/deletion"
	"github.com/ssaplan/primitives/ssaplan/explain"
	"github.com/ssaplan/primitives/ssaplan/internal/deleter"
	"github.com/ssaplan/primitives/ssaplan/release"
	"github.com/ssaplan/primitives/ssaplan/write"
)

// PlanDelete returns the effect of deleting an object. It changes nothing on the server: it reads the object and sends
// the delete as a dry run. For a namespace it counts the objects in it, and for a CRD the custom resources, as far as
// the caller may list them.
//
// It takes three requests: a read, the dry run, and a read that checks that nothing was deleted. A namespace takes one
// more for each namespaced kind, and a CRD one more. The [deletion.Action] of the plan also covers an object that is
// gone, is being deleted or was re-created, and a caller that may not read or delete it. An error means that no plan
// could be made; it names the object and wraps the server's answer.
func (p *Planner) PlanDelete(ctx context.Context, request deletion.Request) (*deletion.Plan, error) {
	if err := p.expired(); err != nil {
		return nil, p.failure(request.Object, "plan to delete", err)
	}
	d := p.deleter(request, deletion.Options{})
	d.Count = true
	plan, err := d.Plan(ctx)
	if err != nil {
		return nil, p.failure(request.Object, "plan to delete", err, d.Seen)
	}
	return plan, nil
}

// ApplyDelete carries out a plan of [Planner.PlanDelete], and returns when the object is gone. It waits until the
// deadline of ctx; without a deadline, it waits as long as the finalizers take. It plans again first. If the new plan
// has another hazard, finalizer or warning, or objects of another kind in the namespace, the error is a
// [deletion.ChangedError]. A second call with the same plan continues the wait. Every other error is a
// [deletion.Error], except for a nil plan.
func (p *Planner) ApplyDelete(ctx context.Context, plan *deletion.Plan, options deletion.Options) error {
	if plan == nil {
		return errors.New("ssaplan: no plan to carry out")
	}
	request := deletion.Request{Object: plan.Object, UID: plan.UID, Propagation: plan.Propagation,
		Replaced: plan.Replaced}
	if options.Propagation != "" && options.Propagation != plan.Propagation {
		return &deletion.Error{Object: plan.Object,
			Err: fmt.Errorf("%s: the plan is for propagation policy %s, not %s: plan again",
				plan.Object, plan.Propagation, options.Propagation)}
	}
	d := p.deleter(request, options)
	d.Count = plan.Contents != nil
	return p.delete(ctx, d, plan)
}

// Delete plans and deletes the object of the state prior, and returns when the object is gone. The UID is a
// precondition. If the object is already gone, Delete returns no error. It waits until the deadline of ctx; without a
// deadline, it waits as long as the finalizers take. If prior has no UID, nothing is deleted. Use [Planner.PlanDelete]
// to show first what else is deleted.
//
// Every error is a [deletion.Error], unless prior is nil or the state of a subresource. It wraps [write.ErrRecreated]
// if the object was deleted and created again meanwhile.
func (p *Planner) Delete(ctx context.Context, prior *explain.State, options deletion.Options) error {
	if prior == nil {
		return errors.New("ssaplan: no state that says what to delete")
	}
	if prior.Subresource != "" {
		return fmt.Errorf("%s: the state is of its %s alone, which can't be deleted", prior.Identity, prior.Subresource)
	}
	request := deletion.Request{Object: prior.Identity, UID: prior.UID, Propagation: options.Propagation}
	return p.delete(ctx, p.deleter(request, options), nil)
}

// PlanRelease plans that the manager of prior stops owning fields of the object. All values stay. [release.Plan.Apply]
// carries the plan out. PlanRelease takes two requests: a read and a dry run.
func (p *Planner) PlanRelease(ctx context.Context, prior *explain.State) (*release.Plan, error) {
	if prior == nil {
		return nil, errors.New("ssaplan: no state that says what to release")
	}
	target, err := p.locate(ctx, prior.Identity, "")
	if err != nil {
		return nil, p.failure(prior.Identity, "plan to release", err)
	}
	return release.For(ctx, target, prior, p.Redactor)
}

func (p *Planner) delete(ctx context.Context, d *deleter.Deleter, reviewed *deletion.Plan) error {
	object := d.Request.Object
	err := p.expired()
	if err == nil {
		err = d.Delete(ctx, reviewed)
	}
	if changed := (*deletion.ChangedError)(nil); err == nil || errors.As(err, &changed) {
		return err
	}
	outcome := cmp.Or(d.Outcome, write.OutcomeNotSent)
	if d.Accepted {
		outcome = write.OutcomeDone
	}
	return &deletion.Error{
		Object: object, Outcome: outcome, Accepted: d.Accepted, Finalizers: d.Finalizers,
		Err: p.failure(object, "delete", err, d.Seen),
	}
}

func (p *Planner) deleter(request deletion.Request, options deletion.Options) *deleter.Deleter {
	id := request.Object
	find := func(ctx context.Context) (deleter.Target, error) {
		t, err := p.locate(ctx, id, "")
		if err != nil {
			return deleter.Target{Identity: id}, err
		}
		return deleter.Target{Identity: t.Identity, Resource: t.Resource, Live: t.Live}, nil
	}
	return &deleter.Deleter{Request: request, Options: options, Server: p.server, Find: find, Redactor: p.Redactor}
}
