// Package turn has a mutex that a goroutine stops waiting for when its context ends.
package turn

import "context"

// Turn is a mutex for goroutines with a context. The zero Turn can't be used: see [New].
type Turn chan struct{}

// New returns a Turn that nothing has taken.
func New() Turn { return make(Turn, 1) }

// Take waits for the turn.
func (t Turn) Take(ctx context.Context) error {
	select {
	case t <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// End lets the next one take its turn.
func (t Turn) End() { <-t }
