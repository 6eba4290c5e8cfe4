package ordered_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/internal/goroutines"
	"github.com/ssaplan/primitives/ssaplan/internal/ordered"
)

func TestMain(m *testing.M) { goroutines.Main(m) }

// Results come in the order of their numbers, also where later ones are ready first, and each number is worked on once.
func TestResultsComeInOrder(t *testing.T) {
	for _, row := range []struct{ n, concurrency int }{{0, 3}, {1, 3}, {2, 3}, {12, 3}, {13, 3}, {50, 3}, {50, 1}, {50, 100}} {
		var done sync.Map
		second := make(chan struct{})
		next := 0
		for i, result := range ordered.Map(t.Context(), row.n, row.concurrency, func(_ context.Context, i int) int {
			_, twice := done.LoadOrStore(i, true)
			assert.False(t, twice)
			switch {
			case i == 0 && row.n > 1 && row.concurrency > 1:
				<-second
			case i == 1:
				close(second)
			}
			return i * i
		}) {
			require.Equal(t, next, i)
			require.Equal(t, i*i, result)
			next++
		}
		require.Equal(t, row.n, next)
	}
}

// No more work runs at a time than the concurrency allows, and at most four results for each worker are under way or
// wait.
func TestWorkIsBounded(t *testing.T) {
	const n, concurrency = 100, 3
	var atWork, most, begun atomic.Int64
	for i := range ordered.Map(t.Context(), n, concurrency, func(context.Context, int) int {
		now := atWork.Add(1)
		for {
			if old := most.Load(); now <= old || most.CompareAndSwap(old, now) {
				break
			}
		}
		begun.Add(1)
		atWork.Add(-1)
		return 0
	}) {
		require.LessOrEqual(t, begun.Load(), int64(i+4*concurrency))
	}
	require.LessOrEqual(t, most.Load(), int64(concurrency))
	require.Equal(t, int64(n), begun.Load())
}

// As much work runs at a time as the concurrency allows.
func TestWorkGoesOnSideBySide(t *testing.T) {
	const concurrency = 3
	var together sync.WaitGroup
	together.Add(concurrency)
	for range ordered.Map(t.Context(), concurrency, concurrency, func(context.Context, int) int {
		together.Done()
		together.Wait() // would block if one waited for another
		return 0
	}) {
		continue
	}
}

// A consumer that stops ends the context of the work. All work that has begun has ended then.
func TestStopping(t *testing.T) {
	var running atomic.Int64
	for range ordered.Map(t.Context(), 100, 4, func(ctx context.Context, i int) int {
		running.Add(1)
		defer running.Add(-1)
		if i > 0 {
			<-ctx.Done()
		}
		return i
	}) {
		break
	}
	require.Zero(t, running.Load())
}
