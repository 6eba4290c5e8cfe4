package openapi

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// call is a request that one makes and others wait for.
type call[T any] struct {
	done  chan struct{}
	value T
	err   error
	at    time.Time
}

func newCall[T any]() *call[T] { return &call[T]{done: make(chan struct{})} }

// finish gives the result, and when it was got, to all who wait.
func (c *call[T]) finish(value T, err error, at time.Time) {
	c.value, c.err, c.at = value, err, at
	close(c.done)
}

// olderThan reports whether there is a result, and it is older than maxAge now. A failure that may pass by itself, such
// as a timeout, is old soon.
func (c *call[T]) olderThan(maxAge time.Duration, now time.Time) bool {
	if c == nil {
		return false
	}
	select {
	case <-c.done:
		if c.err != nil && !isRefusal(c.err) {
			maxAge = min(maxAge, minAge)
		}
		return now.Sub(c.at) > maxAge
	default:
		return false
	}
}

// failed reports whether there is a result, and it is an error.
func (c *call[T]) failed() bool {
	select {
	case <-c.done:
		return c.err != nil
	default:
		return false
	}
}

// isRefusal reports whether the server will answer the same again.
func isRefusal(err error) bool {
	return apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err) || apierrors.IsNotFound(err)
}

func (c *call[T]) wait(ctx context.Context) (T, error) {
	select {
	case <-c.done:
		return c.value, c.err
	case <-ctx.Done():
		var zero T
		return zero, ctx.Err()
	}
}
