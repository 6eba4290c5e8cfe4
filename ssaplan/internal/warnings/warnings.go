// Package warnings collects the warnings of the server about the requests of a context.
package warnings

import (
	"context"
	"slices"
	"sync"

	"github.com/ssaplan/primitives/projection/foreign"
)

// Warnings are the different warnings of the server about the requests of one context.
type Warnings struct {
	mu    sync.Mutex
	texts []foreign.Text
}

type (
	collectingKey struct{}
	answeringKey  struct{}
)

// Collect returns a context for requests, and what collects the server's warnings about them.
func Collect(ctx context.Context) (context.Context, *Warnings) {
	w := &Warnings{}
	return context.WithValue(ctx, collectingKey{}, w), w
}

// Quiet returns a context for requests whose warnings are dropped, since they don't concern a plan.
func Quiet(ctx context.Context) context.Context {
	quiet, _ := Collect(ctx)
	return quiet
}

// Of returns what collects the warnings about the requests of a context, nil if nothing does.
func Of(ctx context.Context) *Warnings {
	w, _ := ctx.Value(collectingKey{}).(*Warnings)
	return w
}

// OfAnswer is [Collect] for a client that returns the warnings with the answer to one request. A caller that collects
// the warnings of several requests gets them as well.
func OfAnswer(ctx context.Context) (context.Context, *Warnings) {
	w := &Warnings{}
	return context.WithValue(ctx, answeringKey{}, w), w
}

// Add gives a warning to the collectors of the context, which are from [Collect] and from [OfAnswer]. It reports
// whether the context has a collector from Collect.
func Add(ctx context.Context, text foreign.Text) bool {
	if w, _ := ctx.Value(answeringKey{}).(*Warnings); w != nil {
		w.Add(text)
	}
	w := Of(ctx)
	if w != nil {
		w.Add(text)
	}
	return w != nil
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
