package wire

import (
	"cmp"
	"testing"

	"github.com/ssaplan/primitives/ssaplan/internal/wiretest"
)

// connect returns a server whose requests a transport answers.
func connect(t *testing.T, transport *wiretest.Answers, options Options) *Server {
	options.ThrottleRetries = cmp.Or(options.ThrottleRetries, -1) // a second each
	return New(wiretest.Client(t, transport), options)
}
