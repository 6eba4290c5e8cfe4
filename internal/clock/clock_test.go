package clock_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/internal/clock"
)

const longer = 24 * time.Hour // than any test takes

func TestAdvanceEndsWaits(t *testing.T) {
	fake := &clock.Fake{}
	ctx := clock.With(t.Context(), fake)
	before := clock.Now(ctx)
	done := make(chan error, 1)
	go func() { done <- clock.Sleep(ctx, longer) }()
	waitFor(t, fake, 1)
	fake.Advance(longer / 2)
	require.Equal(t, 1, fake.Waiting())
	fake.Advance(longer / 2)
	require.NoError(t, <-done)
	require.Zero(t, fake.Waiting())
	require.GreaterOrEqual(t, clock.Now(ctx).Sub(before), longer)
}

func TestSleepsAreCutShort(t *testing.T) {
	fake := &clock.Fake{LongestSleep: time.Nanosecond}
	ctx := clock.With(t.Context(), fake)
	require.NoError(t, clock.Sleep(ctx, longer))
	require.Equal(t, []time.Duration{longer}, fake.Slept())
	limited, cancel := clock.WithTimeout(ctx, longer)
	defer cancel()
	require.NoError(t, limited.Err(), "timeouts are not cut short")
	cancel()
	for range 50 {
		require.Error(t, clock.Sleep(limited, longer), "the context ended before")
	}
}

func TestTheTimeIsUp(t *testing.T) {
	fake := &clock.Fake{LongestSleep: time.Nanosecond, TimeUp: 2}
	ctx, cancel := clock.WithTimeout(clock.With(t.Context(), fake), longer)
	defer cancel()
	require.NoError(t, clock.Sleep(ctx, longer))
	require.NoError(t, ctx.Err())
	_ = clock.Sleep(ctx, longer)
	<-ctx.Done()
	require.ErrorIs(t, ctx.Err(), context.DeadlineExceeded)
}

func TestContextsEndByTheirClock(t *testing.T) {
	fake := &clock.Fake{}
	ctx, cancel := clock.WithTimeout(clock.With(t.Context(), fake), longer)
	defer cancel()
	require.NoError(t, ctx.Err())
	child, end := context.WithCancel(ctx)
	defer end()
	fake.Advance(longer)
	require.ErrorIs(t, clock.Sleep(ctx, longer), context.DeadlineExceeded)
	<-child.Done()
	require.ErrorIs(t, child.Err(), context.DeadlineExceeded)

	ctx, cancel = clock.WithTimeout(clock.With(t.Context(), fake), longer)
	cancel()
	require.ErrorIs(t, clock.Sleep(ctx, longer), context.Canceled)

	parent, cancel := context.WithCancel(clock.With(t.Context(), fake))
	ctx, end = clock.WithTimeout(parent, longer)
	defer end()
	cancel()
	<-ctx.Done()
	require.ErrorIs(t, ctx.Err(), context.Canceled)
}

func TestNoTimeouts(t *testing.T) {
	fake := &clock.Fake{NoTimeouts: true}
	ctx, cancel := clock.WithTimeout(clock.With(t.Context(), fake), time.Nanosecond)
	defer cancel()
	require.NoError(t, clock.Sleep(ctx, time.Millisecond), "its end wakes all waits that are over")
	fake.Advance(time.Nanosecond)
	<-ctx.Done()
	require.ErrorIs(t, ctx.Err(), context.DeadlineExceeded)
}

func TestTheRealClockIsTheDefault(t *testing.T) {
	before := time.Now()
	require.False(t, clock.Now(t.Context()).Before(before))
	require.NoError(t, clock.Sleep(t.Context(), time.Nanosecond))
	ctx, cancel := clock.WithTimeout(t.Context(), time.Nanosecond)
	defer cancel()
	require.ErrorIs(t, clock.Sleep(ctx, longer), context.DeadlineExceeded)
}

// waitFor waits until so many waits go on.
func waitFor(t *testing.T, fake *clock.Fake, n int) {
	require.Eventually(t, func() bool { return fake.Waiting() == n }, time.Minute, time.Millisecond)
}
