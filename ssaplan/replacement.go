package ssaplan

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/ssaplan/primitives/immutability"
	"github.com/ssaplan/primitives/internal/answer"
	"github.com/ssaplan/primitives/projection/foreign"
	"github.com/ssaplan/primitives/ssaplan/explain"
	"github.com/ssaplan/primitives/ssaplan/internal/fastjson"
	"github.com/ssaplan/primitives/ssaplan/internal/trialcreate"
)

// replace returns a plan to replace the live object. The changes are from a dry run that creates the new object. If
// such a dry run isn't possible, they are from the manifest. isTaken is true if the old object has the name of the new
// object. The trial must send the whole manifest; see [trial.whole].
func (t trial) replace(ctx context.Context, r *Replacement, reason string, isTaken bool,
	warnings ...foreign.Text) (*Plan, trial, error) {
	t, err := t.withoutUID()
	if err != nil {
		return nil, t, err
	}
	if t.target != nil {
		made, err := t.target.TryCreate(ctx, t.manifest.Object, t.patch.Options, isTaken)
		switch {
		case err == nil:
		case t.prepared.Unknown.Empty() && trialcreate.Disproves(t.manifest.Object, err, isTaken):
			verdict := immutability.Classify(err).OfCreate(t.manifest)
			t.redactor().Verdict(&verdict)
			return nil, t, &immutability.RefusedError{Object: t.id, Verdict: verdict,
				Err: cmp.Or(r.Refusal, t.redactError(err))}
		case !isRefusal(err):
			return nil, t, t.failed("dry run of the create", err)
		default:
			warnings = append(warnings,
				foreign.Textf("unknown which fields the server adds to the new object: %v", t.redactError(err)))
		}
		t.answer = made
	}
	replaced := func(t trial) (*explain.Explanation, error) {
		return explain.Replace(t.input(t.live), immutability.Paths(r.Fields))
	}
	explained, err := replaced(t)
	if err == nil && t.answer != nil {
		t.answer, err = t.givenUp(explained, replaced)
	}
	if err != nil {
		return nil, t, fmt.Errorf("%s: %w", t.id, err)
	}
	explained.Warnings = append(warnings, explained.Warnings...)
	return &Plan{Action: ActionReplace, Reason: reason, Replacement: r, Explanation: *explained}, t, nil
}

// isRefusal reports whether the server refused a create, or no dry run of the create is possible.
func isRefusal(err error) bool {
	return errors.Is(err, trialcreate.ErrTaken) || errors.Is(err, trialcreate.ErrNamed) ||
		slices.ContainsFunc(answer.Statuses(err), answer.IsRefusal)
}

// withoutUID returns the trial with a manifest without UID. The UID in the manifest is that of the old object, and a
// server doesn't create an object with a given UID.
func (t trial) withoutUID() (trial, error) {
	if t.manifest.GetUID() == "" {
		return t, nil
	}
	var err error
	t.manifest = t.manifest.DeepCopy()
	t.manifest.SetUID("")
	t.patch.Body, err = fastjson.Encode(t.manifest.Object)
	return t, err
}
