package handover

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/ssaplan/internal/applier"
	"github.com/ssaplan/primitives/ssaplan/internal/liveobject"
	"github.com/ssaplan/primitives/ssaplan/internal/precondition"
	"github.com/ssaplan/primitives/ssaplan/write"
)

// Target is the object, such as a [liveobject.Target].
type Target interface {
	Live(ctx context.Context) (*unstructured.Unstructured, error)
	Patch(ctx context.Context, live *unstructured.Unstructured, patch []byte, manager string,
		dryRun ...string) (*unstructured.Unstructured, error)
}

var _ Target = (*liveobject.Target)(nil)

// NotApplied returns the error of an apply that isn't sent after all when fields have changed owners.
func NotApplied(object identity.Identity, err error) *write.ApplyError {
	outcome := write.OutcomeNotSent
	if write.OutcomeOf(err) == write.OutcomeRefused || applier.Of(err) == write.OutcomeRefused {
		outcome = write.OutcomeRefused
	}
	const advice = "fields have changed owners, and the manifest was not applied"
	return &write.ApplyError{Object: object, Outcome: outcome, Err: err, Advice: advice}
}

// Again returns the same handover for now, a later version of the object with the same owners. It returns nil if there
// is nothing to hand over.
func (h *Handover) Again(now *unstructured.Unstructured) *Handover {
	again, err := Find(now, h.wanted)
	if err != nil {
		return nil
	}
	return again
}

// Send carries the handover out, once, and returns the object with its new record; see [applier.Once]. It is guarded by
// the version of the object, or, if others write the object all the time, by its record and the values that change
// hands; see [precondition.ByRecord].
func (h *Handover) Send(ctx context.Context, target Target,
	byRecord bool) (*unstructured.Unstructured, *applier.Failure) {
	patch, err := h.Patch()
	if err == nil && byRecord {
		before, _ := fieldowner.Read(h.live.Object) // which could be read
		moved := h.own.Difference(before.Fields(h.wanted.Applier.Is)).Union(h.given).Union(h.clears)
		patch, err = precondition.ByRecord(h.live, patch, moved.Leaves())
	}
	if err != nil {
		return nil, applier.NotSent(err)
	}
	return applier.Once(ctx, func(ctx context.Context) (*unstructured.Unstructured, error) {
		return target.Patch(ctx, h.live, patch, h.wanted.Applier.Manager)
	}, func(ctx context.Context) applier.Found {
		now, err := target.Live(ctx)
		if err != nil {
			return applier.Found{Err: err}
		}
		return h.found(now)
	})
}

// found returns what the live object shows about the handover. now is that object, nil if there is none. The handover
// is done if no field is left that has to change owners.
func (h *Handover) found(now *unstructured.Unstructured) applier.Found {
	found := applier.Compare(h.live, now)
	if now == nil || now.GetUID() != h.live.GetUID() {
		return found
	}
	switch left, err := Find(now, h.wanted); {
	case err != nil:
		return applier.Found{Err: err}
	case left == nil:
		return applier.Found{Done: true, Made: now}
	}
	return found
}
