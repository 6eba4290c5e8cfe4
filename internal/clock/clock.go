// Package clock tells the time and waits. A context can carry the clock of a test, so that no test waits for a
// constant of the library; any other context has the real clock.
package clock

import (
	"context"
	"sync"
	"time"
)

type key struct{}

// With returns a context whose clock is a fake.
func With(ctx context.Context, fake *Fake) context.Context {
	return context.WithValue(ctx, key{}, fake)
}

// of returns the fake clock of a context, nil if it has the real one.
func of(ctx context.Context) *Fake {
	fake, _ := ctx.Value(key{}).(*Fake)
	return fake
}

// Now returns the time of the context's clock.
func Now(ctx context.Context) time.Time {
	if fake := of(ctx); fake != nil {
		return fake.Now()
	}
	return time.Now()
}

// Sleep waits for the duration. It returns the context's error if the context ends first.
func Sleep(ctx context.Context, d time.Duration) error {
	var end <-chan time.Time
	if fake := of(ctx); fake != nil {
		end = fake.sleep(d)
	} else {
		timer := time.NewTimer(d)
		defer timer.Stop()
		end = timer.C
	}
	select {
	case <-end:
	case <-ctx.Done():
	}
	return ctx.Err() // also if it ended together with the sleep
}

// WithTimeout is context.WithTimeout by the context's clock.
func WithTimeout(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	fake := of(ctx)
	if fake == nil {
		return context.WithTimeout(ctx, d)
	}
	limited := &expiring{Context: ctx, done: make(chan struct{})}
	end := fake.timeout(d)
	go func() {
		select {
		case <-end:
			limited.finish(context.DeadlineExceeded)
		case <-ctx.Done():
			limited.finish(ctx.Err())
		case <-limited.done:
		}
	}()
	return limited, func() { limited.finish(context.Canceled) }
}

// expiring is a context that ends by a fake clock.
type expiring struct {
	context.Context
	done chan struct{}
	mu   sync.Mutex
	err  error // nil until it has ended
}

func (e *expiring) finish(err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.err == nil {
		e.err = err
		close(e.done)
	}
}

func (e *expiring) Done() <-chan struct{} { return e.done }

func (e *expiring) Err() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.err
}
