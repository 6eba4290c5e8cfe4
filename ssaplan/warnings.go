package ssaplan

import (
	"context"
	"slices"
	"sync"

	"k8s.io/client-go/rest"
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
	switch w := warningsOf(ctx); {
	case w != nil && code == 299 && text != "":
		w.add(text)
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

// warnings collects what the server says while one object is planned.
type warnings struct {
	mu    sync.Mutex
	texts []string
}

func collectWarnings(ctx context.Context) (context.Context, *warnings) {
	w := &warnings{}
	return context.WithValue(ctx, warningsKey{}, w), w
}

// warningsOf returns where the warnings for a plan are collected, nil if no plan is being made.
func warningsOf(ctx context.Context) *warnings {
	w, _ := ctx.Value(warningsKey{}).(*warnings)
	return w
}

func (w *warnings) add(text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !slices.Contains(w.texts, text) {
		w.texts = append(w.texts, text)
	}
}

func (w *warnings) all() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.texts)
}
