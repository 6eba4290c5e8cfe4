package write

import (
	"cmp"
	"errors"
)

// Outcome is what became of a write: of an apply, or of a delete.
type Outcome string

// The outcomes of a write.
const (
	// OutcomeNotSent: nothing was written. The request wasn't sent, or it didn't arrive, as a look at the object shows.
	OutcomeNotSent Outcome = "NotSent"
	// OutcomeRefused: the server refused the request, and wrote nothing.
	OutcomeRefused Outcome = "Refused"
	// OutcomeUnknown: the answer was lost, and the object doesn't tell whether the server did what it was asked for.
	OutcomeUnknown Outcome = "Unknown"
	// OutcomeDone: the server did it. Of a delete that is that it accepted it, and the object may still wait for
	// finalizers.
	OutcomeDone Outcome = "Done"
)

// OutcomeOf returns what became of the write that ended with err: Done for nil, and what the outermost error tells that
// has a method WriteOutcome, as all errors have with which the Planner's Apply, Replace, Delete and ApplyDelete end. Of
// another error it is Unknown.
func OutcomeOf(err error) Outcome {
	var told interface{ WriteOutcome() Outcome }
	switch {
	case err == nil:
		return OutcomeDone
	case errors.As(err, &told):
		return cmp.Or(told.WriteOutcome(), OutcomeUnknown)
	}
	return OutcomeUnknown
}
