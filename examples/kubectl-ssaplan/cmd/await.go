package cmd

import "context"

// await returns what ask returns. It doesn't wait for requests that are under way when ctx ends: discovery has no
// context.
func await[T any](ctx context.Context, ask func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		value, err := ask()
		done <- result{value, err}
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}
