package write

import (
	"cmp"
	"errors"
)

// Outcome says whether a write, such as an apply or a delete, happened.
type Outcome string

// The outcomes of a write.
const (
	// OutcomeNotSent: nothing was written. The request wasn't sent, or the object shows that it didn't arrive.
	OutcomeNotSent Outcome = "NotSent"
	// OutcomeRefused: the server refused the request, and wrote nothing.
	OutcomeRefused Outcome = "Refused"
	// OutcomeUnknown: the answer was lost, and the object doesn't show whether the write happened.
	OutcomeUnknown Outcome = "Unknown"
	// OutcomeDone: the write happened. For a delete, the server accepted it, and the object may still wait for
	// finalizers.
	OutcomeDone Outcome = "Done"
)

// OutcomeOf returns the outcome of a write that returned err. It is Done for nil. Otherwise it is the result of the
// method WriteOutcome of the outermost error that has one, as the errors of the Planner's Apply, Replace, Delete and
// ApplyDelete do. For another error it is Unknown.
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
