package ssaplan

import (
	"context"

	"k8s.io/client-go/rest"

	"github.com/ssaplan/primitives/ssaplan/internal/wire"
)

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
