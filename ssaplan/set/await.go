package set

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"time"

	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/internal/clock"
	"github.com/ssaplan/primitives/projection/foreign"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/explain"
)

// ReadyResult is the result of the wait for an object.
type ReadyResult struct {
	Item Item
	Readiness
}

// Await waits until the unchanged and the applied objects of a set are ready. It yields each object when it is ready or
// has failed. When the time is up, or when ctx ends, it yields the others as neither ready nor failed, and says what
// they waited for last. It skips objects that were skipped or refused. It reads an object again after a pause that
// grows to a second.
func (s *Set) Await(ctx context.Context, ready ReadyFunc, within time.Duration) iter.Seq[*ReadyResult] {
	return func(yield func(*ReadyResult) bool) {
		ctx, cancel := clock.WithTimeout(ctx, within)
		defer cancel()
		left := s.appliedNumbers()
		for pause := pauses(); len(left) > 0; {
			stopped := false
			left = slices.DeleteFunc(left, func(i int) bool {
				found := s.look(ctx, i, ready)
				if stopped || !found.Ready && !found.Failed && ctx.Err() == nil {
					s.options.Waiting(s.objects[i], found.String())
					return false
				}
				stopped = !yield(&ReadyResult{*s.whole(i, s.items[i]), found})
				return true
			})
			if stopped {
				return
			}
			_ = pause.Sleep(ctx)
		}
	}
}

// appliedNumbers returns the numbers of the objects for which the last Apply succeeded.
func (s *Set) appliedNumbers() (numbers []int) {
	for i, applied := range s.applied {
		if applied {
			numbers = append(numbers, i)
		}
	}
	return numbers
}

// look reads an object, and returns whether it is ready.
func (s *Set) look(ctx context.Context, i int, ready ReadyFunc) Readiness {
	if ctx.Err() != nil {
		return cmp.Or(s.seen[i], notLookedAt)
	}
	found, _ := lookAt(ctx, s.planner, s.objects[i], ready)
	if ctx.Err() == nil {
		s.seen[i] = Readiness{Why: found.Why, Said: found.Said}
	}
	found.Why, found.Said = s.seen[i].Why, s.seen[i].Said
	return found
}

// AwaitObject waits until an object is ready or has failed, as [Set.Await] does for a set. At the end of the time or of
// ctx, the result is neither ready nor failed, and says what the object waited for last. After each read, waiting is
// called with the reason why the object isn't ready. An object that doesn't exist yet is waited for, too.
func AwaitObject(ctx context.Context, planner Planner, id identity.Identity, ready ReadyFunc, within time.Duration,
	waiting func(why string)) Readiness {
	ctx, cancel := clock.WithTimeout(ctx, within)
	defer cancel()
	last := notLookedAt
	for pause := pauses(); ; {
		if found, exists := lookAt(ctx, planner, id, ready); ctx.Err() == nil {
			last, last.Failed = found, found.Failed && exists
		}
		if last.Ready || last.Failed || ctx.Err() != nil {
			return last
		}
		waiting(last.String())
		_ = pause.Sleep(ctx)
	}
}

var notLookedAt = Readiness{Why: "it wasn't looked at"}

// lookAt reads an object and reports whether it exists, as far as that is known.
func lookAt(ctx context.Context, planner Planner, id identity.Identity,
	ready ReadyFunc) (found Readiness, exists bool) {
	reading, err := planner.Read(ctx, &explain.State{Identity: id})
	switch {
	case err != nil:
		return Readiness{Why: foreign.OfError(err)}, true
	case reading.Presence == ssaplan.PresenceUnreadable:
		return Readiness{Failed: true, Why: "it may not be read"}, true
	case reading.Live == nil:
		return Readiness{Failed: true, Why: foreign.Textf("it doesn't exist: %s", reading.Presence)}, false
	}
	return ready.Of(reading.Live, planner), true
}

// AwaitPlan waits until the server has the kind and the namespace of the object, and plans. A server has them a moment
// after the CRD or the namespace was applied. If ctx ends before that, it returns the last plan, which is Deferred.
func AwaitPlan(ctx context.Context, planner Planner, request ssaplan.Request) (*ssaplan.Plan, error) {
	var last *ssaplan.Plan
	for pause := pauses(); ; {
		plan, err := planner.Plan(ctx, request)
		switch {
		case err != nil && last != nil && ctx.Err() != nil:
			return last, nil // the last plan says more than a timeout
		case err != nil:
			return nil, err
		case !lacksPlace(plan) || pause.Sleep(ctx) != nil:
			return plan, nil
		}
		last = plan
	}
}
