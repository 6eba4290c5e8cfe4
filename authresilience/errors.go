package authresilience

import (
	"fmt"

	"github.com/ssaplan/primitives/projection/foreign"
)

// BrokenOffError is a request that failed although the server answers others: the server, or what stands in front of
// it, broke it off, or its answer was larger than any of a Kubernetes API server.
type BrokenOffError struct {
	Err error
}

// Error returns one line: the error, and that it concerns this request alone.
func (e *BrokenOffError) Error() string {
	return fmt.Sprintf("%s (other requests are answered)", foreign.OfError(e.Err))
}

// Unwrap returns the error of the request.
func (e *BrokenOffError) Unwrap() error { return e.Err }

// ClassError is an error of a known class. It stands for one of which no more may be told: what is wrapped has its
// class no more.
type ClassError struct {
	Class Class
	Err   error
}

// Error returns the text of the error.
func (e *ClassError) Error() string { return foreign.OfError(e.Err).String() }

// Unwrap returns the error.
func (e *ClassError) Unwrap() error { return e.Err }
