package applier

import (
	"context"
	"errors"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/internal/clock"
)

// mostUnmoved is how often an object may be found in the same version after it was said to have changed. Others' writes
// aren't the reason then.
const mostUnmoved = 3

// ErrRestless is the error for an object that others changed between each read and what was to follow it.
var ErrRestless = errors.New("others changed the object between read and dry run, again and again: try again")

// Attempts are those at an object that others change between a read and what follows it.
type Attempts struct {
	ctx     context.Context // ends when no more is to be tried
	pause   clock.Backoff
	version string
	unmoved int
}

// NewAttempts returns the attempts for which the context has time.
func NewAttempts(ctx context.Context) *Attempts {
	return &Attempts{ctx: ctx, pause: clock.Backoff{Next: 2 * time.Millisecond, Longest: 100 * time.Millisecond}}
}

// Again waits before the next attempt at an object, which is there in some version, nil if it isn't there. It reports
// false if there is to be none: the context has ended, or the object is found unchanged again and again, so that
// something else is the reason.
func (a *Attempts) Again(now *unstructured.Unstructured) bool {
	version := ""
	if now != nil {
		version = now.GetResourceVersion()
	}
	if a.unmoved++; version != a.version {
		a.version, a.unmoved = version, 1
	}
	return a.unmoved < mostUnmoved && a.pause.Sleep(a.ctx) == nil
}
