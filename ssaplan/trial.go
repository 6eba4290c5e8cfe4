package ssaplan

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/ssaplan/explain"
	"github.com/ssaplan/primitives/ssaplan/internal/fastjson"
	"github.com/ssaplan/primitives/ssaplan/internal/handover"
	"github.com/ssaplan/primitives/ssaplan/internal/liveobject"
	"github.com/ssaplan/primitives/ssaplan/internal/noop"
	"github.com/ssaplan/primitives/ssaplan/internal/scale"
	"github.com/ssaplan/primitives/ssaplan/redact"
)

// trial is one attempt to plan: the manifest in the form that is sent to the live object, and the server's answer to
// its dry run. It is a value. Each step of planning returns a new trial and doesn't modify its receiver.
type trial struct {
	*goal
	observed
	prepared explain.Prepared           // the manifest without the fields that are never sent
	handover *handover.Handover         // the handover to send before the manifest; nil if no field changes owners
	outgoing explain.Outgoing           // the ignored fields
	manifest *unstructured.Unstructured // the manifest that is sent
	patch    explain.Patch
	pair     *liveobject.Pair           // a dry run and a simultaneous read; nil unless others write all the time
	answer   *unstructured.Unstructured // the object in the answer to the dry run; nil without an answer
	refusal  error                      // the error of the dry run; nil if it was accepted or not sent
	then     *explain.Explanation       // explains the apply after the handover; nil without a handover
	asked    *noop.Asked                // the cache entry to fill; nil if the answer can't be cached
}

// isForLive reports whether the request to send depends on the live object. Fields with unknown values don't count. The
// result doesn't change during planning. It stays true if a dry run shows that a null or a handover changes nothing.
func (t trial) isForLive() bool {
	return !t.prepared.Ignored.Empty() || t.prepared.Empty != nil || t.request.handsOver()
}

// on returns a trial for the live object in seen. It finds the handover, removes the ignored fields from the manifest,
// and uses live values for fields with unknown values. recorded is the live object after the handover. Its
// managedFields are from the answer to a dry run. recorded is nil if there was no such dry run.
func (t trial) on(ctx context.Context, seen observed, recorded *unstructured.Unstructured) (out trial, err error) {
	out = trial{
		goal: t.goal, observed: seen, prepared: t.prepared, manifest: t.manifest, patch: t.patch, pair: t.pair,
		asked: t.asked,
	}
	if seen.live != nil && t.request.handsOver() {
		if out.handover, err = handover.Find(seen.live, t.wanted()); err != nil {
			return out, fmt.Errorf("%s: %w", t.id, err)
		}
	}
	if t.prepared.Unknown.Empty() && !t.isForLive() {
		return out, nil
	}
	live, err := t.target.Recorded(ctx, seen.live, t.patch.Options)
	if err == nil {
		after := out.handover.Of(live)
		if recorded != nil && after != nil && recorded.GetResourceVersion() == after.GetResourceVersion() {
			after = recorded
		}
		out.outgoing, err = t.prepared.For(content(after), content(cmp.Or(t.request.was, live)), t.applier())
	}
	if err != nil {
		return out, fmt.Errorf("%s: %w", t.id, err)
	}
	out.outgoing.Warnings = slices.Concat(out.outgoing.Warnings, t.notGivenUp(live, out.outgoing), t.notCleared(live))
	out.manifest = out.handover.Unpinned(out.outgoing.Manifest, t.request.was)
	out.patch.Body, err = fastjson.Encode(out.manifest.Object)
	return out, err
}

// whole returns the trial that sends the whole manifest, including the ignored fields, as for the create of a new
// object.
func (t trial) whole(ctx context.Context) (trial, error) {
	if t.prepared.Ignored.Empty() {
		return t, nil
	}
	out, err := t.on(ctx, observed{}, nil)
	out.observed, out.refusal = t.observed, t.refusal
	return out, err
}

// of returns the trial for the given live object, as if the caller had supplied it.
func (t trial) of(live *unstructured.Unstructured) trial {
	t.observed = observed{live: live, isSupplied: live != nil, isLossy: t.isLossy}
	return t
}

// asking returns the trial for another request for the same object.
func (t trial) asking(request Request) trial {
	t.goal = t.with(request)
	return t.of(t.live)
}

// checkExisting returns an error if [Request].Existing doesn't permit an existing object, or doesn't permit a missing
// one.
func (t trial) checkExisting() error {
	return t.request.Existing.Check(t.id, content(t.live), t.applier(), t.request.Prior)
}

// try sends the dry run and returns the trial with the answer. If pinned, the resourceVersion of the live object is a
// precondition of the dry run.
func (t trial) try(ctx context.Context, pinned bool) trial {
	if err := scale.Check(t.request.Subresource, t.manifest.Object); err != nil {
		t.refusal = err
		return t
	}
	if t.handover == nil { // most plans have no handover, and this path allocates less memory
		t.answer, t.refusal = handover.Apply(ctx, t.target, t.live, t.patch.Body, t.patch.Options, pinned, t.pair)
		return t
	}
	server := handover.ServerOf(ctx, t.target, t.live, t.patch.Options, pinned, t.pair)
	t.answer, t.refusal = t.handover.Try(server, t.manifest.Object, t.patch.Body)
	if t.handover.IsIdle() {
		t.handover = nil
	}
	return t
}

// learn evaluates the answer. It returns the new prepared manifest, and the object after the handover with its
// managedFields. It reports whether another manifest needs a dry run. The answer shows which nulls change nothing, and
// which lists and maps are atomic. Another manifest may also be needed because a handover changes managedFields. For
// example, others have updated an atomic map, and the manifest has a null in this map. Before the handover,
// managedFields have single fields of the map. After the handover, they have the map as a whole.
func (t trial) learn(recorded *unstructured.Unstructured) (explain.Prepared, *unstructured.Unstructured, bool) {
	prepared, isSettled := t.prepared.Settle(t.outgoing, t.answer.Object)
	ignored, isLearned := prepared.Ignored.Learn(t.outgoing, content(t.live), t.answer.Object)
	prepared.Ignored = ignored
	after := t.handover.Of(t.live)
	isRecorded := t.handover == nil || recorded != nil && recorded.GetResourceVersion() == after.GetResourceVersion()
	if isSettled || isLearned || isRecorded {
		return prepared, recorded, isSettled || isLearned
	}
	left, err := prepared.For(content(after), content(cmp.Or(t.request.was, t.live)), t.applier())
	return prepared, after, err == nil && !reflect.DeepEqual(left.Manifest, t.outgoing.Manifest)
}

// adjustments returns the modifications of the manifest, except those that were undone for the live object.
func (t trial) adjustments() []projection.Adjustment {
	if len(t.outgoing.Restored) == 0 {
		return t.prepared.Adjustments
	}
	return slices.DeleteFunc(slices.Clone(t.prepared.Adjustments), func(a projection.Adjustment) bool {
		return slices.ContainsFunc(t.outgoing.Restored, a.Path.Equal)
	})
}

// sensitive returns the fields whose values are redacted.
func (t trial) sensitive() projection.Patterns {
	if last := t.redacted; last.manifest == nil || last.manifest != t.request.Manifest || last.live != t.live ||
		last.answer != t.answer {
		fields := t.Planner.sensitive(t.id, t.request.Manifest, t.live, t.answer)
		*last = redactedFields{t.request.Manifest, t.live, t.answer, slices.Clip(fields)}
	}
	return t.redacted.fields
}

// redactor returns the redactor for texts about the object, such as messages of the server.
func (t trial) redactor() redact.Redactor { return t.Redactor(t.request.Manifest, t.live, t.answer) }

// redactError returns err without sensitive values.
func (t trial) redactError(err error) error { return t.redactor().Error(err) }

// failed returns the error for a failed request.
func (t trial) failed(doing string, err error) error {
	return t.failure(t.id, doing, err, t.request.Manifest, t.live, t.answer)
}
