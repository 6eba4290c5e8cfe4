package write

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/projection/foreign"
)

// ErrRecreated says that the object of an identity has another UID than expected: it was deleted and created again. The
// new object was left as it is.
var ErrRecreated = errors.New("the object was re-created")

// ErrNoEffect says that the server accepted a write without changing the object, although the dry run had changed it.
var ErrNoEffect = errors.New("the server accepted it without changing the object")

// ApplyError says why an apply failed, had no effect, or isn't known to have happened.
type ApplyError struct {
	Object  identity.Identity
	Outcome Outcome
	Err     error
	// Advice says what is known of the object, and what to do. Optional.
	Advice string
}

func (e *ApplyError) Error() string {
	if e.Advice == "" {
		return foreign.OfError(e.Err).String()
	}
	return fmt.Sprintf("%s; %s", foreign.OfError(e.Err), e.Advice)
}

// Unwrap returns the cause.
func (e *ApplyError) Unwrap() error { return e.Err }

// WriteOutcome is used by [OutcomeOf].
func (e *ApplyError) WriteOutcome() Outcome { return e.Outcome }

// Stage is how far a replacement got.
type Stage string

// The stages of a replacement, in their order.
const (
	// StageChecking: nothing has been changed.
	StageChecking Stage = "checking"
	// StageDeleting: the old object has not been deleted, as far as is known.
	StageDeleting Stage = "deleting"
	// StageWaiting: the server accepted the delete, and the old object is still there.
	StageWaiting Stage = "waiting"
	// StageCreating: the old object is gone, and the new one is not there yet, as far as is known.
	StageCreating Stage = "creating"
)

// ReplaceError describes where a replacement stopped. Calling Replace again continues there.
type ReplaceError struct {
	Old, New identity.Identity
	Stage    Stage
	// Outcome is the outcome of the create in [StageCreating], and of the delete in earlier stages.
	Outcome Outcome
	// Finalizers are those that the delete waited for, if the stage is [StageWaiting].
	Finalizers []string
	Err        error
	// Advice says what to do. Default: a text for the stage and the outcome.
	Advice string
}

func (e *ReplaceError) Error() string {
	text := fmt.Sprintf("%s: replace stopped while %s: ", e.New, e.Stage)
	if e.Old != e.New {
		text = fmt.Sprintf("%s: replace of %s stopped while %s: ", e.New, e.Old, e.Stage)
	}
	if len(e.Finalizers) > 0 {
		text += fmt.Sprintf("the delete waits for finalizers %s: ", foreign.Text(strings.Join(e.Finalizers, ", ")))
	}
	return fmt.Sprintf("%s%s; %s", text, foreign.OfError(e.Err), cmp.Or(e.Advice, e.advice()))
}

func (e *ReplaceError) advice() string {
	switch {
	case errors.Is(e.Err, ErrRecreated):
		return "the old object is gone: plan without the prior state to adopt the one that is there"
	case e.Stage == StageDeleting && e.Outcome == OutcomeRefused:
		return "the old object is still there: plan again, then replace again"
	case e.Stage == StageCreating && e.Outcome == OutcomeUnknown:
		return "the old object is gone, and it is unknown whether the new one was created: replace again to find out"
	}
	return stageAdvice[e.Stage]
}

var stageAdvice = map[Stage]string{
	StageChecking: "nothing was changed",
	StageDeleting: "the old object may still be there: plan again, then replace again",
	StageWaiting:  "the old object is being deleted: replace again to continue waiting",
	StageCreating: "the old object is gone and the new one not created: replace again to create it",
}

// Unwrap returns the cause.
func (e *ReplaceError) Unwrap() error { return e.Err }

// WriteOutcome is used by [OutcomeOf].
func (e *ReplaceError) WriteOutcome() Outcome { return e.Outcome }
