package authresilience

import (
	"fmt"

	"github.com/ssaplan/primitives/projection/foreign"
)

// BrokenOffError is a request that failed although the server answers others: the server, or what stands in front of it, broke
// it off, or its answer was larger than any of a Kubernetes API server.
type BrokenOffError struct {
	Err error
}

// Error returns one line: the error, and that it concerns this request alone.
func (e *BrokenOffError) Error() string {
	return fmt.Sprintf("%s (other requests are answered)", foreign.OfError(e.Err))
}

// Unwrap returns the error of the request.
func (e *BrokenOffError) Unwrap() error { return e.Err }
