package wire

import (
	"context"
	"slices"
	"sync"

	"k8s.io/client-go/rest"

	"github.com/ssaplan/primitives/projection/foreign"
)

// WarningHandler hands the warnings that a server sends with its answers to the [Warnings] of the request's context.
type WarningHandler struct {
	// Others gets the warnings about requests whose context has none; nil drops them.
	Others rest.WarningHandlerWithContext
}

// HandleWarningHeaderWithContext implements the handler interface of client-go.
func (h WarningHandler) HandleWarningHeaderWithContext(ctx context.Context, code int, agent string, text string) {
	switch w := WarningsOf(ctx); {
	case w != nil && code == 299 && text != "":
		w.Add(foreign.Text(text))
	case w == nil && h.Others != nil:
		h.Others.HandleWarningHeaderWithContext(ctx, code, agent, text)
	}
}

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

type warningsKey struct{}

// Warnings are the different warnings of the server about the requests of one context.
type Warnings struct {
	mu    sync.Mutex
	texts []foreign.Text
}

// CollectWarnings returns a context for requests, and what collects the server's warnings about them.
func CollectWarnings(ctx context.Context) (context.Context, *Warnings) {
	w := &Warnings{}
	return context.WithValue(ctx, warningsKey{}, w), w
}

// WarningsOf returns what collects the warnings about the requests of a context, nil if nothing does.
func WarningsOf(ctx context.Context) *Warnings {
	w, _ := ctx.Value(warningsKey{}).(*Warnings)
	return w
}

// Add adds a text unless it is there.
func (w *Warnings) Add(text foreign.Text) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !slices.Contains(w.texts, text) {
		w.texts = append(w.texts, text)
	}
}

// All returns the texts in the order in which they came first.
func (w *Warnings) All() []foreign.Text {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.texts)
}
