package ssaplan

import (
	"context"
	"time"

	"k8s.io/client-go/rest"

	"github.com/ssaplan/primitives/authresilience"
	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/ssaplan/internal/wire"
)

// Observation is one request that the Planner sent. It holds nothing of an object's content.
type Observation struct {
	// Verb is get, list, patch, create, update, delete, or discover for the list of the kinds of an API version or of all, in which
	// case the Object has no more than that, or for the version of the server and its definitions, and then the Object is empty. DryRun says that the server was only to try.
	Verb   string
	DryRun bool
	Object identity.Identity
	// Duration is the time from sending the request until its answer was decoded.
	Duration time.Duration
	// Class is the class of the failure, [authresilience.ClassNone] if there was none.
	Class authresilience.Class
	// Status is the HTTP status, 0 if there was no answer. Sent and Received are the bytes of the bodies. All three are
	// known only to a Planner made by [New].
	Status         int
	Sent, Received int64
}

// wire returns the options that are about requests.
func (o Options) wire() wire.Options {
	out := wire.Options{Logger: o.Logger, ThrottleRetries: o.ThrottleRetries}
	if o.Observe != nil {
		out.Observe = func(ctx context.Context, seen wire.Observation) { o.Observe(ctx, Observation(seen)) }
	}
	return out
}

// WarningHandler hands the warnings that a server sends with its answers to the plan of the object that they are about.
// [New] sets it; a host with a client of its own sets it as WarningHandlerWithContext of the client's config.
type WarningHandler struct {
	// Others gets the warnings about requests that aren't part of a plan, such as those of an apply, which the plan had.
	// Default: they are dropped; [New] sets what the config has.
	Others rest.WarningHandlerWithContext
}

// HandleWarningHeaderWithContext implements the handler interface of client-go.
func (h WarningHandler) HandleWarningHeaderWithContext(ctx context.Context, code int, agent string, text string) {
	wire.WarningHandler(h).HandleWarningHeaderWithContext(ctx, code, agent, text)
}
