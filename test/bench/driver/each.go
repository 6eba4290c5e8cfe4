package driver

import (
	"errors"
	"sync"
	"sync/atomic"
)

// Each calls do for 0 to n-1, several at a time, and returns what failed.
func Each(n, concurrency int, do func(i int) error) error {
	var next atomic.Int64
	var workers sync.WaitGroup
	errs := make([]error, concurrency)
	for w := range concurrency {
		workers.Add(1)
		go func() {
			defer workers.Done()
			for i := int(next.Add(1)) - 1; i < n && errs[w] == nil; i = int(next.Add(1)) - 1 {
				errs[w] = do(i)
			}
		}()
	}
	workers.Wait()
	return errors.Join(errs...)
}
