package applier

import (
	"context"
	"errors"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/internal/clock"
)

// mostUnmoved is the number of reads in a row that find the same version, although errors say that the object changed.
// Then the writes of others aren't the reason for the errors, and the attempts end.
const mostUnmoved = 3

// ErrRestless is the error for an object that others changed after each read, before the next request.
var ErrRestless = errors.New("others changed the object between read and dry run, again and again: try again")

// Attempts limits how often a caller reads an object and sends a request that depends on the read. An attempt fails if
// others change the object between the read and the request.
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

// Again waits before the next attempt. The argument now is the object that was read last, nil if it doesn't exist.
// Again reports false if the context has ended. It also reports false if the object has the same version again and
// again: then the attempts fail for another reason.
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
