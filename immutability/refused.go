package immutability

import (
	"fmt"

	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/projection/foreign"
)

// RefusedError says that the server rejects the manifest for this object, and that replacing the object isn't known to
// help.
type RefusedError struct {
	Object identity.Identity
	// Verdict is the verdict on the refusal.
	Verdict Verdict
	// Err is the server's answer.
	Err error
}

// Error returns one line: the object, the fields with the server's messages, and what to do.
func (e *RefusedError) Error() string {
	if len(e.Verdict.Fields) == 0 {
		return fmt.Sprintf("%s: %s%s", e.Object, foreign.OfError(e.Err), e.Verdict.Advice())
	}
	return fmt.Sprintf("%s: %s", e.Object, e.Verdict)
}

// Unwrap returns the server's answer.
func (e *RefusedError) Unwrap() error { return e.Err }
