package ssaplan

// This file sends the requests of a plan: the read of the live object, and dry runs until both have the same version.

import (
	"cmp"
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/authresilience"
	"github.com/ssaplan/primitives/ssaplan/explain"
	"github.com/ssaplan/primitives/ssaplan/internal/applier"
	"github.com/ssaplan/primitives/ssaplan/internal/liveobject"
)

// look returns the trial for the live object, and reads the object if it isn't known yet. If the caller may not read
// the object, look returns the plan that is possible without it.
func (t trial) look(ctx context.Context) (*Plan, trial, error) {
	if !t.isUnread() {
		t.passwords.LearnCarried(ctx, t.live)
		return nil, t, nil
	}
	live, err := t.target.Live(ctx)
	switch {
	case err != nil:
		return t.unreadable(ctx, err)
	case live == nil && t.request.Subresource != "":
		return nil, t, fmt.Errorf("%s: there is no object whose %s could be applied: create it first", t.id,
			t.request.Subresource)
	}
	t.observed = observed{live: live, isLossy: t.isLossy}
	return nil, t, nil
}

// ask sends dry runs of the apply until the answer is for the known version of the live object, and returns the plan
// for this answer. If the server refuses a dry run, ask returns no plan, and the trial has the refusal.
func (t trial) ask(ctx context.Context) (*Plan, trial, error) {
	base, seen, lostRaces := t, t.observed, 0
	if t.request.lostRaces > 0 { // others write the object all the time, and it was just read
		seen.isSupplied, base.pair = false, &liveobject.Pair{}
	}
	attempts := applier.NewAttempts(ctx)
	var recorded *unstructured.Unstructured
	for first := true; ; first = false {
		base.observed = seen
		if err := base.checkExisting(); err != nil {
			return nil, base, err
		}
		t, err := base.on(ctx, seen, recorded)
		if err != nil {
			return nil, t, err
		}
		if first && (!seen.isSupplied || t.isForLive()) {
			noOp, asked := t.recall(ctx, t.patch.Body)
			if noOp != nil {
				return noOp, t, nil
			}
			base.asked, t.asked = asked, asked
		}
		t = t.try(ctx, seen.isSupplied)
		isPinned := seen.isSupplied || t.handover != nil && t.manifest.GetResourceVersion() == ""
		now := observed{isLossy: seen.isLossy}
		switch {
		case isPinned && authresilience.Classify(t.refusal) == authresilience.ClassOutdated:
			if !seen.isSupplied {
				lostRaces++
			}
			now.live, err = t.target.Live(ctx)
		case t.refusal != nil:
			return nil, t, nil
		case explain.SameVersion(content(t.live), t.answer.Object, t.manifest.Object):
			var again bool
			if base.prepared, recorded, again = t.learn(recorded); again {
				continue
			}
			plan, t, err := t.answered()
			if err != nil || !seen.isLossy || plan.Action == ActionNoOp {
				return plan, t, err
			}
			now.isLossy = false
			if now.live, err = t.target.Live(ctx); err != nil {
				return nil, t, t.failed("get", err)
			}
		case t.pair != nil:
			now.live = t.pair.Now
			err = t.target.Verify(ctx, t.live, t.answer, now.live, t.patch.Body, t.patch.Options)
			if err == nil && t.pair.IsExact() {
				seen = now // no pause: the object and the answer in the pair already have the same version
				continue
			}
		default:
			lostRaces++
			now.live, err = t.target.Relook(ctx, t.live, t.answer, t.patch.Body, t.patch.Options)
			if err == nil && !seen.isLossy && t.handover == nil && t.request.Subresource == "" {
				if asOfAnswer := liveobject.AsOfAnswer(t.live, t.answer, now.live); asOfAnswer != nil {
					return t.of(asOfAnswer).answered()
				}
			}
		}
		if err != nil {
			return nil, t, t.failed("get", err)
		}
		if seen = now; lostRaces > 1 && base.pair == nil {
			base.pair = &liveobject.Pair{}
		}
		if !attempts.Again(seen.live) {
			return nil, t, t.failed("plan", cmp.Or(ctx.Err(), applier.ErrRestless))
		}
	}
}
