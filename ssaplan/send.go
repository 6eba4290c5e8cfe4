package ssaplan

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/ssaplan/internal/applier"
	"github.com/ssaplan/primitives/ssaplan/internal/handover"
	"github.com/ssaplan/primitives/ssaplan/internal/warnings"
	"github.com/ssaplan/primitives/ssaplan/write"
)

// send sends the plan's request once. The UID and resourceVersion of live are preconditions. If live is nil, the
// request fails if the object exists.
func (p *Planner) send(ctx context.Context, plan *Plan,
	live *unstructured.Unstructured) (*unstructured.Unstructured, *applier.Failure) {
	write, err := p.write(ctx, plan, live)
	if err != nil {
		return nil, applier.NotSent(err)
	}
	if p.Redactor(plan.basis.request.Manifest, live).Redacts() {
		ctx, _ = warnings.Collect(ctx) // drops the warnings: they may quote secrets, and the plan has counted them
	}
	obj, failure := write.Send(ctx)
	if failure == nil && write.IsAlone(obj) {
		version := obj.GetResourceVersion()
		plan.basis.madeVersion.Store(&version)
	}
	return obj, failure
}

// write returns the plan's request. It doesn't use the target that the plan was made with, since another Planner with
// other credentials may have made the plan.
func (p *Planner) write(ctx context.Context, plan *Plan, live *unstructured.Unstructured) (*applier.Write, error) {
	target, err := p.locate(ctx, plan.Object, plan.Subresource)
	if err != nil {
		return nil, err
	}
	patch := plan.basis.patch
	return &applier.Write{Target: target, Body: patch.Body, Options: patch.Options, Subresource: plan.Subresource,
		Live: live, AnyVersion: plan.basis.anyVersion && (plan.basis.hasTaken || !plan.takesFields())}, nil
}

// giveUpCreated gives up the fields in [Request].GiveUp after the plan has created the object. It retries if others
// write the object meanwhile.
func (p *Planner) giveUpCreated(ctx context.Context, plan *Plan,
	made *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	if plan.Action == ActionUpdate || len(plan.basis.request.GiveUp) == 0 {
		return made, nil
	}
	failed := func(failure *applier.Failure) error {
		advice := "the object was created, and the fields to give up are still owned: plan and apply again"
		if failure.Outcome == write.OutcomeUnknown {
			advice = "the object was created, but the fields to give up may still be owned: " +
				"plan again to find out"
		}
		err := p.failureOf(plan, "give fields up", failure.Err)
		return &write.ApplyError{Object: plan.Object, Outcome: write.OutcomeDone, Err: err, Advice: advice}
	}
	wanted := handover.Wanted{Applier: plan.applier(), GiveUp: plan.basis.request.GiveUp,
		Manifest: plan.basis.request.Manifest.Object}
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
		if !applier.LostRace(failure) || !isSame || !attempts.Again(now) {
			return nil, failed(failure)
		}
		made, byRecord = now, true
	}
}

// failureOf returns the error for a failed request of the plan.
func (p *Planner) failureOf(plan *Plan, doing string, err error) error {
	return p.failure(plan.Object, doing, err, plan.basis.request.Manifest, plan.basis.manifest, plan.basis.live)
}
