package ssaplan

import (
	"fmt"

	"github.com/ssaplan/primitives/projection/foreign"
	"github.com/ssaplan/primitives/ssaplan/write"
)

// ChangedError means that an apply would now do something else than the reviewed plan, usually because the object has
// changed. No value was written. If it is wrapped in a [write.ApplyError], a handover was already written, and fields
// have changed owners.
type ChangedError struct {
	// Plan is the new plan.
	Plan *Plan
}

func (e *ChangedError) Error() string {
	return fmt.Sprintf("%s: changed since the plan was made; now %s (%s): review the new plan", e.Plan.Object,
		e.Plan.Action, foreign.Text(e.Plan.Reason))
}

// WriteOutcome returns Refused. [write.OutcomeOf] uses it.
func (e *ChangedError) WriteOutcome() write.Outcome { return write.OutcomeRefused }
