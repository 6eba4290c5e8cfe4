package set

import (
	"context"
	"fmt"
	"slices"

	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/write"
)

// LeftOutError says why an object was skipped.
type LeftOutError struct {
	Object identity.Identity
	Reason string
	// Because is the object of the set without which this one can't be applied; zero if there is another reason.
	Because identity.Identity
}

func (e *LeftOutError) Error() string { return fmt.Sprintf("%s: left out: %s", e.Object, e.Reason) }

// WriteOutcome is used by [write.OutcomeOf].
func (e *LeftOutError) WriteOutcome() write.Outcome { return write.OutcomeNotSent }

func isLeftOut(err error) bool {
	_, ok := err.(*LeftOutError)
	return ok
}

// isLeftOut reports whether an item is skipped because of its own plan, or because it has none.
func (s *Set) isLeftOut(item *Item) bool {
	switch {
	case item == nil || item == unchanged:
		return false
	case item.Plan == nil:
		return true
	}
	switch item.Plan.Action {
	case ssaplan.ActionConflict, ssaplan.ActionDeferred:
		return len(item.After) == 0 // an item that waits for others of the set is planned again
	case ssaplan.ActionReplace:
		return !s.options.Replace
	}
	return false
}

// isHeldBack reports whether an object is skipped or has failed. An object is skipped because of its own plan, or if it
// would change and refers to an object that is held back. Objects in seen are being checked already, and don't count.
func (s *Set) isHeldBack(ctx context.Context, i int, seen map[int]bool) bool {
	if done, carriedOut := s.done[i]; carriedOut {
		return !done
	}
	switch item := s.items[i]; {
	case s.isLeftOut(item):
		return true
	case seen[i] || !item.changes():
		return false
	}
	seen[i] = true
	return slices.ContainsFunc(s.uses(ctx, i), func(used int) bool { return s.isHeldBack(ctx, used, seen) })
}

// usesLeftOut returns the numbers of the held back objects to which an object refers.
func (s *Set) usesLeftOut(ctx context.Context, i int) []int {
	return slices.DeleteFunc(s.uses(ctx, i),
		func(used int) bool { return !s.isHeldBack(ctx, used, map[int]bool{i: true}) })
}
