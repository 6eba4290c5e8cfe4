// Package cached keeps what was read of a server for a while. One goroutine reads it, and the others wait for that.
package cached

import (
	"context"
	"maps"
	"sync"
	"time"

	"github.com/ssaplan/primitives/internal/clock"
	"github.com/ssaplan/primitives/internal/turn"
)

// AfterFailure is how long nothing is read again after a failure, so that those who wait for it don't fail one after
// the other.
const AfterFailure = time.Second

// Values are values by key. The zero Values have none yet.
type Values[T any] struct {
	// After says how long a value isn't read again after a failure. Default: for [AfterFailure].
	After func(error) time.Duration

	mu     sync.Mutex
	values map[string]*Value[T]
}

// Of returns the value of a key.
func (v *Values[T]) Of(key string) *Value[T] {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.values == nil {
		v.values = map[string]*Value[T]{}
	}
	if v.values[key] == nil {
		v.values[key] = New[T]()
		if v.After != nil {
			v.values[key].after = v.After
		}
	}
	return v.values[key]
}

// Keep forgets the values of other keys. It doesn't wait for those that are being read.
func (v *Values[T]) Keep(keys map[string]bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	maps.DeleteFunc(v.values, func(key string, _ *Value[T]) bool { return !keys[key] })
}

// Value is a value that is read again from time to time. The zero Value can't be used: see [New].
type Value[T any] struct {
	reading turn.Turn
	after   func(error) time.Duration
	value   T
	at      time.Time // when it was read, zero if it wasn't yet
	failed  error
	again   time.Time // when to read again after a failure
}

// New returns a value that wasn't read yet.
func New[T any]() *Value[T] {
	return &Value[T]{reading: turn.New(), after: func(error) time.Duration { return AfterFailure }}
}

// Get returns the value as it was at most age ago. An older value is read again; read gets the value that was read
// before, which is the zero value at first.
func (v *Value[T]) Get(ctx context.Context, age time.Duration,
	read func(ctx context.Context, before T) (T, error)) (T, error) {
	var none T
	if err := v.reading.Take(ctx); err != nil {
		return none, err
	}
	defer v.reading.End()
	now := clock.Now(ctx)
	switch {
	case !v.at.IsZero() && now.Sub(v.at).Abs() < age:
		return v.value, nil
	case v.failed != nil && now.Before(v.again):
		return none, v.failed
	}
	value, err := read(ctx, v.value)
	if err != nil {
		if ctx.Err() == nil { // otherwise only this caller failed
			v.failed, v.again = err, clock.Now(ctx).Add(v.after(err))
		}
		return none, err
	}
	v.value, v.at, v.failed = value, now, nil
	return value, nil
}
