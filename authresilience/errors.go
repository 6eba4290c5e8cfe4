package authresilience

import (
	"fmt"

	"github.com/ssaplan/primitives/projection/foreign"
)

// BrokenOffError is the error of a request that failed although the server answers other requests. Either the server or
// a proxy broke it off, or the answer was larger or nested deeper than any answer of a Kubernetes API server.
type BrokenOffError struct {
	Err error
}

// Error returns one line: the error, and that it concerns this request alone.
func (e *BrokenOffError) Error() string {
	return fmt.Sprintf("%s (other requests are answered)", foreign.OfError(e.Err))
}

// Unwrap returns the error of the request.
func (e *BrokenOffError) Unwrap() error { return e.Err }

// ClassError is an error with a known class. It replaces an error whose text may quote secrets: Err is then a redacted
// error, from which the class can no longer be found out.
type ClassError struct {
	Class Class
	Err   error
}

// Error returns the text of the error.
func (e *ClassError) Error() string { return foreign.OfError(e.Err).String() }

// Unwrap returns the error.
func (e *ClassError) Unwrap() error { return e.Err }
