package wire

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A server that throttles gets half as many requests at a time, whatever of what was under way it throttles, and later
// more again.
func TestPace(t *testing.T) {
	p := &pace{}
	begin := func(n int) (began []time.Time) {
		for range n {
			at, err := p.enter(t.Context())
			require.NoError(t, err)
			began = append(began, at)
		}
		return began
	}
	for _, at := range begin(64) {
		p.leave(at, false)
	}
	require.Zero(t, p.limit, "nothing is held back")

	burst := begin(16)
	time.Sleep(time.Millisecond)
	for _, at := range burst {
		p.leave(at, true)
	}
	require.Equal(t, 8, p.limit, "all of them were too many together")
	began := begin(8)
	late, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	_, err := p.enter(late)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	entered := make(chan error)
	go func() {
		_, err := p.enter(t.Context())
		entered <- err
	}()
	p.leave(began[0], false)
	require.NoError(t, <-entered, "one may begin when another ends")
	for range 8 {
		p.leave(began[0], false)
	}
	for range perStep * 8 {
		p.leave(begin(1)[0], false)
	}
	require.Equal(t, 9, p.limit)
	for p.limit != 0 {
		p.leave(begin(1)[0], false)
	}
	require.Zero(t, p.under)
}
