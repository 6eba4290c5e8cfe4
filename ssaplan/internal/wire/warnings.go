package wire

import (
	"context"

	"k8s.io/client-go/rest"

	"github.com/ssaplan/primitives/ssaplan/internal/warnings"
)

// otherWarnings returns the handler of the config, nil if it has none.
func otherWarnings(config *rest.Config) rest.WarningHandlerWithContext {
	if config.WarningHandlerWithContext == nil && config.WarningHandler != nil {
		return withoutContext{config.WarningHandler}
	}
	return config.WarningHandlerWithContext
}

type withoutContext struct{ handler rest.WarningHandler }

func (h withoutContext) HandleWarningHeaderWithContext(_ context.Context, code int, agent string, text string) {
	h.handler.HandleWarningHeader(code, agent, text)
}

// Warnings are the different warnings of the server about the requests of one context.
type Warnings = warnings.Warnings

// CollectWarnings returns a context for requests, and what collects the server's warnings about them.
func CollectWarnings(ctx context.Context) (context.Context, *Warnings) { return warnings.Collect(ctx) }
