package deletion

import (
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/projection/foreign"
	"github.com/ssaplan/primitives/ssaplan/write"
)

// Error says why a deletion failed. As far as is known the object still exists or, if the error wraps
// [write.ErrRecreated], another object of the same identity does.
type Error struct {
	Object identity.Identity
	// Outcome is what became of the delete: Done if the server accepted it.
	Outcome write.Outcome
	// Accepted says that the server accepted the delete. Finalizers are those that the object still waits for.
	Accepted   bool
	Finalizers []string
	Err        error
}

func (e *Error) Error() string {
	said := foreign.OfError(e.Err)
	switch {
	case len(e.Finalizers) > 0:
		return fmt.Sprintf(
			"%s: the delete waits for finalizers %s; find the controllers that remove them, then delete again to "+
				"continue waiting",
			said, foreign.Text(strings.Join(e.Finalizers, ", ")))
	case e.Accepted:
		return fmt.Sprintf(
			"%v: the server accepted the delete, and the object is still there; delete again to continue waiting", said)
	case e.Outcome == write.OutcomeUnknown:
		return fmt.Sprintf("%v; unknown whether it was deleted: delete again to find out", said)
	case e.Outcome == write.OutcomeNotSent, e.Outcome == write.OutcomeRefused:
		return fmt.Sprintf("%v; nothing was deleted", said)
	}
	return said.String()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// WriteOutcome is used by [write.OutcomeOf].
func (e *Error) WriteOutcome() write.Outcome { return e.Outcome }

// ChangedError says that deleting the object would do more than the reviewed plan says. Nothing was deleted.
type ChangedError struct {
	// Plan is what deleting the object would do now.
	Plan *Plan
}

func (e *ChangedError) Error() string {
	return fmt.Sprintf("%s: changed since the plan to delete it was made; now %s (%s): review the new plan",
		e.Plan.Object, e.Plan.Action, foreign.Text(e.Plan.Reason))
}

// WriteOutcome is used by [write.OutcomeOf].
func (e *ChangedError) WriteOutcome() write.Outcome { return write.OutcomeNotSent }

// Options say how to delete an object, and to wait for it. The zero value works.
type Options struct {
	// Propagation is what happens to the object's dependents. Default: the propagation of the plan; Planner.ApplyDelete
	// rejects any other. Planner.Delete has no plan: its default is Background, which deletes the dependents after the
	// object.
	Propagation metav1.DeletionPropagation
	// Progress is called each time the object was read and still exists. Default: nothing is called.
	Progress func(old identity.Identity, finalizers []string)
	// Warning is called once for each warning of the server about the delete. Default: warnings of the delete go to the
	// client's warning handler.
	Warning func(old identity.Identity, text foreign.Text)
	// PollInterval is the time between two reads of the object. Default: a second.
	PollInterval time.Duration
}
