package server

import (
	"context"

	"github.com/ssaplan/primitives/projection/foreign"
	"github.com/ssaplan/primitives/ssaplan/internal/warnings"
)

// WarningHandler adds the warnings in the server's answers to the plan of the object. Package client sets it. For
// another client of client-go, set it as WarningHandlerWithContext of the client's config.
type WarningHandler struct {
	// Others gets the warnings of requests that aren't part of a plan, such as an apply. For an apply, the plan already
	// has the same warnings from the dry run. Default: these warnings are dropped. Package client sets Others to the
	// handler in the config.
	Others interface {
		HandleWarningHeaderWithContext(ctx context.Context, code int, agent, text string)
	}
}

// HandleWarningHeaderWithContext implements rest.WarningHandlerWithContext of client-go.
func (h WarningHandler) HandleWarningHeaderWithContext(ctx context.Context, code int, agent, text string) {
	isCollected := warnings.Of(ctx) != nil
	if code == 299 && text != "" {
		isCollected = warnings.Add(ctx, foreign.Text(text))
	}
	if !isCollected && h.Others != nil {
		h.Others.HandleWarningHeaderWithContext(ctx, code, agent, text)
	}
}

// CollectWarnings returns a context for one request, and a function that returns the warnings in the answer. Use it in
// a Server whose client has a [WarningHandler]; see [Response].
func CollectWarnings(ctx context.Context) (context.Context, func() []string) {
	ctx, collected := warnings.OfAnswer(ctx)
	return ctx, func() (texts []string) {
		for _, text := range collected.All() {
			texts = append(texts, string(text))
		}
		return texts
	}
}
