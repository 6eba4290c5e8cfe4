package ssaplan

import (
	"github.com/ssaplan/primitives/immutability"
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
