package ssaplan

import (
	"fmt"

	"github.com/ssaplan/primitives/immutability"
	"github.com/ssaplan/primitives/projection/foreign"
	"github.com/ssaplan/primitives/ssaplan/write"
)

// What the errors of writes are made of, which package write explains.
type (
	// Outcome is what became of a write; see [OutcomeOf].
	Outcome = write.Outcome
	// ApplyError describes why an apply isn't known to be done.
	ApplyError = write.ApplyError
	// RefusedError is the error of [Planner.Plan] if the server rejects the manifest and a replacement isn't known to
	// help.
	RefusedError = immutability.RefusedError
	// ReplaceError describes where a replacement stopped. Calling Replace again continues there.
	ReplaceError = write.ReplaceError
	// Stage is how far a replacement got.
	Stage = write.Stage
)

// The outcomes of a write, and the stages of a replacement.
const (
	OutcomeNotSent = write.OutcomeNotSent
	OutcomeRefused = write.OutcomeRefused
	OutcomeUnknown = write.OutcomeUnknown
	OutcomeDone    = write.OutcomeDone

	StageChecking = write.StageChecking
	StageDeleting = write.StageDeleting
	StageWaiting  = write.StageWaiting
	StageCreating = write.StageCreating
)

// ErrNoEffect is [write.ErrNoEffect].
var ErrNoEffect = write.ErrNoEffect

// OutcomeOf returns the outcome of a [Planner.Apply], [Planner.Replace], [Planner.Delete] or [Planner.ApplyDelete] that
// returned err; see [write.OutcomeOf].
func OutcomeOf(err error) Outcome { return write.OutcomeOf(err) }

// ChangedError says that the apply would do something else than the reviewed plan says, usually because the object
// changed meanwhile. No value was written. If it is wrapped in an [ApplyError], a handover was written before, so that
// fields have changed owners.
type ChangedError struct {
	// Plan is what applying would do now.
	Plan *Plan
}

func (e *ChangedError) Error() string {
	return fmt.Sprintf("%s: changed since the plan was made; now %s (%s): review the new plan", e.Plan.Object, e.Plan.Action, foreign.Text(e.Plan.Reason))
}

// WriteOutcome is used by [OutcomeOf]. The outcome is Refused.
func (e *ChangedError) WriteOutcome() Outcome { return OutcomeRefused }
