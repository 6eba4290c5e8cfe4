package applier

import (
	"fmt"

	"github.com/ssaplan/primitives/projection/foreign"
)

// TakenError says that another object has the identity of the one to create.
type TakenError struct {
	Action, Reason string // of a plan for the other object, without the prior state
	Err            error  // the refusal to create
}

func (e *TakenError) Error() string {
	return fmt.Sprintf(
		"another object is there already (for it the plan is %s: %s): plan without the prior state to adopt it",
		e.Action, foreign.Text(e.Reason))
}

// Unwrap returns the refusal to create.
func (e *TakenError) Unwrap() error { return e.Err }
