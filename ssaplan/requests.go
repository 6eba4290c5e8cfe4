package ssaplan

import (
	"context"
	"time"

	"k8s.io/client-go/rest"

	"github.com/ssaplan/primitives/authresilience"
	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/ssaplan/internal/wire"
)

// Observation describes one request that the Planner sent, without the content of objects.
type Observation struct {
	// Verb is get, list, patch, create, update, delete or discover. For discover, Object has only an apiVersion: the
	// group and version whose kinds were read. It is empty for other documents, such as the kinds of all groups, the
	// server's version and OpenAPI documents.
	Verb string
	// DryRun is true for a dry run. It is also true for a request with an invalid dryRun, which a server rejects: the
	// Planner sends it to check that the parameter arrives.
	DryRun bool
	Object identity.Identity
	// Duration is the time from sending the request until its answer was decoded.
	Duration time.Duration
	// Class is the class of the failure, [authresilience.ClassNone] if there was none.
	Class authresilience.Class
	// Status is the HTTP status, 0 if there was no answer. Sent and Received are the bytes of the bodies. All three are
	// 0 for a Planner of [NewForClient].
	Status         int
	Sent, Received int64
}

// WarningHandler adds the warnings in the server's answers to the plan of the object. [New] sets it. For
// [NewForClient], set it as WarningHandlerWithContext of the client's config. Its field Others gets the warnings of
// requests that aren't part of a plan, such as an apply; the plan had the same warnings from the dry run. Default: the
// warnings of these requests are dropped. The WarningHandler that New sets gives them to the handler in the config.
type WarningHandler struct {
	Others rest.WarningHandlerWithContext
}

// HandleWarningHeaderWithContext implements the interface of client-go.
func (h WarningHandler) HandleWarningHeaderWithContext(ctx context.Context, code int, agent, text string) {
	wire.WarningHandler{Others: h.Others}.HandleWarningHeaderWithContext(ctx, code, agent, text)
}

// wire returns the options that are about requests.
func (o Options) wire() wire.Options {
	var observe func(context.Context, wire.Observation)
	if o.Observe != nil {
		observe = func(ctx context.Context, seen wire.Observation) { o.Observe(ctx, Observation(seen)) }
	}
	return wire.Options{
		Logger: o.Logger, ThrottleRetries: o.ThrottleRetries, Observe: observe,
		Passwords: !o.SkipFormats, ShowValuesOf: o.ShowValuesOf,
	}
}
