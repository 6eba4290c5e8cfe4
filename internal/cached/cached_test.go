package cached

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/internal/clock"
)

func TestValuesAreReadAgain(t *testing.T) {
	fake := &clock.Fake{}
	ctx := clock.With(t.Context(), fake)
	var values Values[int]
	var befores []int
	get := func(key string) int {
		got, err := values.Of(key).Get(ctx, time.Minute, func(_ context.Context, before int) (int, error) {
			befores = append(befores, before)
			return before + 1, nil
		})
		require.NoError(t, err)
		return got
	}
	require.Equal(t, 1, get("a"))
	require.Equal(t, 1, get("a"))
	require.Equal(t, 1, get("b"))
	fake.Advance(time.Minute)
	require.Equal(t, 2, get("a"))
	require.Equal(t, []int{0, 0, 1}, befores)
}

func TestFailuresAreKeptForASecond(t *testing.T) {
	fake := &clock.Fake{}
	value, reads := New[string](), 0
	get := func(ctx context.Context) error {
		_, err := value.Get(clock.With(ctx, fake), time.Minute, func(ctx context.Context, _ string) (string, error) {
			reads++
			return "", errors.Join(errors.New("no"), ctx.Err())
		})
		return err
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for range 10 { // whether the turn or the end of the context comes first is random
		require.Error(t, get(ended))
	}
	reads = 0
	require.ErrorContains(t, get(t.Context()), "no")
	require.ErrorContains(t, get(t.Context()), "no")
	require.Equal(t, 1, reads, "a failure of a caller whose context ended isn't kept, and any other is")
	fake.Advance(AfterFailure)
	require.Error(t, get(t.Context()))
	require.Equal(t, 2, reads)
}

func TestConcurrentCallersReadOnce(t *testing.T) {
	value, reads := New[int](), 0
	var all sync.WaitGroup
	for range 20 {
		all.Add(1)
		go func() {
			defer all.Done()
			got, err := value.Get(t.Context(), time.Hour, func(context.Context, int) (int, error) {
				reads++
				return 7, nil
			})
			assert.NoError(t, err)
			assert.Equal(t, 7, got)
		}()
	}
	all.Wait()
	require.Equal(t, 1, reads)
}

func TestFailuresAreKeptForAsLongAsTheyLast(t *testing.T) {
	fake, reads := &clock.Fake{}, 0
	values := Values[string]{After: func(err error) time.Duration { return time.Duration(len(err.Error())) * time.Minute }}
	get := func() {
		_, err := values.Of("a").Get(clock.With(t.Context(), fake), time.Hour, func(context.Context, string) (string, error) {
			reads++
			return "", errors.New("two")
		})
		require.EqualError(t, err, "two")
	}
	get()
	fake.Advance(3*time.Minute - time.Second)
	get()
	require.Equal(t, 1, reads)
	fake.Advance(time.Second)
	get()
	require.Equal(t, 2, reads)
}

func TestOtherValuesAreForgotten(t *testing.T) {
	var values Values[string]
	get := func(key string) (reads int) {
		_, err := values.Of(key).Get(t.Context(), time.Hour, func(context.Context, string) (string, error) {
			reads++
			return key, nil
		})
		require.NoError(t, err)
		return reads
	}
	get("a")
	get("b")
	values.Keep(map[string]bool{"a": true, "c": true})
	require.Zero(t, get("a"))
	require.Equal(t, 1, get("b"))
}
