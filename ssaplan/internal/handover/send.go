package handover

import (
	"cmp"
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/ssaplan/internal/applier"
	"github.com/ssaplan/primitives/ssaplan/internal/wire"
	"github.com/ssaplan/primitives/ssaplan/write"
)

// Target is the object, such as a [wire.Target].
type Target interface {
	Live(ctx context.Context) (*unstructured.Unstructured, error)
	Patch(ctx context.Context, live *unstructured.Unstructured, patch []byte, manager string, dryRun ...string) (*unstructured.Unstructured, error)
}

var _ Target = (*wire.Target)(nil)

// NotApplied is what is known of an object whose fields changed hands when the apply isn't sent after all.
const NotApplied = "fields have changed hands, and no value was written"

// Send carries the handover out, once, and returns the object with its new record. If the answer was lost, it looks whether the object has
// that record.
func (h *Handover) Send(ctx context.Context, target Target) (*unstructured.Unstructured, *applier.Failure) {
	patch, err := h.Patch()
	if err = cmp.Or(err, ctx.Err()); err != nil {
		return nil, applier.NotSent(err)
	}
	obj, err := target.Patch(ctx, h.live, patch, h.wanted.Applier.Manager)
	outcome := applier.Of(err)
	switch outcome {
	case write.OutcomeDone:
		return obj, nil
	case write.OutcomeUnknown:
		if obj = h.done(ctx, target); obj != nil {
			return obj, nil
		}
		return nil, &applier.Failure{Outcome: outcome, Err: err, Advice: "whether fields changed hands isn't known, and no value was written: plan again"}
	}
	return nil, &applier.Failure{Outcome: outcome, Err: err, Advice: applier.Advice(err)}
}

// done returns the object if it has the new record, else nil. It looks for a while even when ctx has ended.
func (h *Handover) done(ctx context.Context, target Target) *unstructured.Unstructured {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), applier.LookTimeout)
	defer cancel()
	now, err := target.Live(ctx)
	if err != nil || now == nil || now.GetUID() != h.live.GetUID() {
		return nil
	}
	is, err := fieldowner.Read(now.Object)
	want, _ := fieldowner.Read(h.Object()) // which was made of what could be read
	if err != nil || !is.Equal(want) {
		return nil
	}
	return now
}
