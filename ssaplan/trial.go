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

// trial is a manifest as it is sent to the live object, and the server's answer to a dry run of that. It is a value:
// each step of planning returns the trial that it makes, and changes none that it was given.
type trial struct {
	*goal
	observed
	prepared explain.Prepared           // the manifest without the fields that are never sent
	handover *handover.Handover         // of fields, before the manifest is sent; nil if nothing changes owners
	left     explain.Left               // the ignored fields
	manifest *unstructured.Unstructured // as it is sent
	patch    explain.Patch
	pair     *liveobject.Pair           // for an object that others write all the time; else nil
	answer   *unstructured.Unstructured // the object as the server would make it; nil if it refused, or wasn't asked
	refusal  error                      // of the dry run; nil if the server accepted it, or wasn't asked
	then     *explain.Explanation       // of the apply after the handover; nil without a handover
	asked    *noop.Asked                // with which the answer can be cached; nil if it can't
}

// isForLive reports whether the request to send depends on the live object, apart from values that aren't known yet.
// That doesn't change if a dry run shows that the object is the same either way.
func (t trial) isForLive() bool {
	return !t.prepared.Ignored.Empty() || t.prepared.Empty != nil || t.request.handsOver()
}

// on returns the trial on the object that was seen: with a handover of the fields that change owners, without the
// ignored fields, and with the live values of fields whose values aren't known yet. recorded is the object after the
// handover, if a dry run has shown its managedFields, and else nil.
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
		out.left, err = t.prepared.For(content(after), content(cmp.Or(t.request.was, live)), t.applier())
	}
	if err != nil {
		return out, fmt.Errorf("%s: %w", t.id, err)
	}
	out.left.Warnings = slices.Concat(out.left.Warnings, t.notGivenUp(live, out.left), t.notCleared(live))
	out.manifest = out.handover.Unpinned(out.left.Manifest, t.request.was)
	out.patch.Body, err = fastjson.Encode(out.manifest.Object)
	return out, err
}

// whole returns the trial in which all of the manifest is sent, as a new object is created with it.
func (t trial) whole(ctx context.Context) (trial, error) {
	if t.prepared.Ignored.Empty() {
		return t, nil
	}
	out, err := t.on(ctx, observed{}, nil)
	out.observed, out.refusal = t.observed, t.refusal
	return out, err
}

// of returns the trial after the live object was read again.
func (t trial) of(live *unstructured.Unstructured) trial {
	t.observed = observed{live: live, isSupplied: live != nil, isLossy: t.isLossy}
	return t
}

// asking returns the trial for another request for the same object.
func (t trial) asking(request Request) trial {
	t.goal = t.with(request)
	return t.of(t.live)
}

// checkExisting returns an error if the request doesn't permit that the object exists, or that it doesn't.
func (t trial) checkExisting() error {
	return t.request.Existing.Check(t.id, content(t.live), t.applier(), t.request.Prior)
}

// try returns the trial with the answer to a dry run, or to a dry run for just the version of the live object.
func (t trial) try(ctx context.Context, pinned bool) trial {
	if err := scale.Check(t.request.Subresource, t.manifest.Object); err != nil {
		t.refusal = err
		return t
	}
	if t.handover == nil { // as in most plans, which allocate less without the rest
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

// learn returns what the answer shows: the manifest to prepare, and the object with its managedFields after the
// handover. It reports whether another manifest has to be tried. The answer shows which nulls change nothing, and which
// lists and maps are atomic. The managedFields after the handover may ask for other fields than expected, such as for a
// null in an atomic map that others updated: they own its fields until a handover, at which the server records the map.
func (t trial) learn(recorded *unstructured.Unstructured) (explain.Prepared, *unstructured.Unstructured, bool) {
	prepared, isSettled := t.prepared.Settle(t.left, t.answer.Object)
	ignored, isLearned := prepared.Ignored.Learn(t.left, content(t.live), t.answer.Object)
	prepared.Ignored = ignored
	after := t.handover.Of(t.live)
	isRecorded := t.handover == nil || recorded != nil && recorded.GetResourceVersion() == after.GetResourceVersion()
	if isSettled || isLearned || isRecorded {
		return prepared, recorded, isSettled || isLearned
	}
	left, err := prepared.For(content(after), content(cmp.Or(t.request.was, t.live)), t.applier())
	return prepared, after, err == nil && !reflect.DeepEqual(left.Manifest, t.left.Manifest)
}

// adjustments returns the changes to the manifest, without those that were undone for the live object.
func (t trial) adjustments() []projection.Adjustment {
	if len(t.left.Restored) == 0 {
		return t.prepared.Adjustments
	}
	return slices.DeleteFunc(slices.Clone(t.prepared.Adjustments), func(a projection.Adjustment) bool {
		return slices.ContainsFunc(t.left.Restored, a.Path.Equal)
	})
}

// sensitive returns the fields whose values are never shown.
func (t trial) sensitive() projection.Patterns {
	if last := t.redacted; last.manifest == nil || last.manifest != t.request.Manifest || last.live != t.live ||
		last.answer != t.answer {
		fields := t.Planner.sensitive(t.id, t.request.Manifest, t.live, t.answer)
		*last = redactedFields{t.request.Manifest, t.live, t.answer, slices.Clip(fields)}
	}
	return t.redacted.fields
}

// redactor redacts texts from elsewhere about the object.
func (t trial) redactor() redact.Redactor { return t.Redactor(t.request.Manifest, t.live, t.answer) }

// redactError returns err as it can be printed.
func (t trial) redactError(err error) error { return t.redactor().Error(err) }

// failed returns the error for a request that failed.
func (t trial) failed(doing string, err error) error {
	return t.failure(t.id, doing, err, t.request.Manifest, t.live, t.answer)
}
