package clock

import (
	"context"
	"time"
)

// Backoff is the pause between attempts. Each is twice as long as the one before, up to the longest.
type Backoff struct{ Next, Longest time.Duration }

// Sleep waits for the next pause, by the context's clock. It returns the context's error if the context ends first.
func (b *Backoff) Sleep(ctx context.Context) error {
	pause := b.Next
	b.Next = min(2*pause, b.Longest)
	return Sleep(ctx, pause)
}
