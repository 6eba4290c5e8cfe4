package ssaplan

import (
	"context"
	"slices"
	"sync"
)

// WarningHandler hands the warnings that a server sends with its answers to the plan of the object that they are about.
// [New] sets it; a host with a client of its own sets it as WarningHandlerWithContext of the client's config.
type WarningHandler struct{}

// HandleWarningHeaderWithContext implements the handler interface of client-go.
func (WarningHandler) HandleWarningHeaderWithContext(ctx context.Context, code int, _ string, text string) {
	if w, ok := ctx.Value(warningsKey{}).(*warnings); ok && code == 299 && text != "" {
		w.add(text)
	}
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
