package ssaplan

import (
	"fmt"

	"github.com/ssaplan/primitives/projection/foreign"
	"github.com/ssaplan/primitives/ssaplan/write"
)

// ChangedError says that the apply would do something else than the reviewed plan says, usually because the object
// changed meanwhile. No value was written. If it is wrapped in a [write.ApplyError], a handover was written before, so
// that fields have changed owners.
type ChangedError struct {
	// Plan is what applying would do now.
	Plan *Plan
}

func (e *ChangedError) Error() string {
	return fmt.Sprintf("%s: changed since the plan was made; now %s (%s): review the new plan", e.Plan.Object,
		e.Plan.Action, foreign.Text(e.Plan.Reason))
}

// WriteOutcome is used by [write.OutcomeOf]. The outcome is Refused.
func (e *ChangedError) WriteOutcome() write.Outcome { return write.OutcomeRefused }
