package wire

import "context"

// turn is a mutex that a goroutine stops waiting for when its context ends.
type turn chan struct{}

func newTurn() turn { return make(turn, 1) }

// take waits for the turn.
func (t turn) take(ctx context.Context) error {
	select {
	case t <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// end lets the next one take its turn.
func (t turn) end() { <-t }
