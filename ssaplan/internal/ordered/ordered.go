// Package ordered does work side by side and yields the results in order.
package ordered

import (
	"context"
	"iter"
	"runtime"
	"sync"
)

// windowFactor is the number of results for each worker that may be in work, or ready and not yielded yet. So the other
// workers can go on for a while when one result is slow.
const windowFactor = 4

// Map calls work for the numbers from 0 to n-1, several at a time, and yields each result in the order of the numbers
// as soon as it and those before it are there. The number of results held at a time is bounded. Stopping the iteration
// ends the context of the work, and no goroutine outlives it.
func Map[R any](ctx context.Context, n, concurrency int, work func(ctx context.Context, i int) R) iter.Seq2[int, R] {
	return func(yield func(int, R) bool) {
		ctx, stop := context.WithCancel(ctx)
		size := min(n, windowFactor*concurrency)
		w := &window[R]{results: make([]chan R, size), queue: make(chan job[R], size)}
		for range min(n, concurrency) {
			w.workers.Add(1)
			go w.work(ctx, work)
		}
		defer w.workers.Wait()
		defer close(w.queue)
		defer stop()
		for i := range n {
			w.fill(i, n)
			if !yield(i, <-w.results[i%size]) {
				return
			}
		}
	}
}

// window is the part of the numbers that is being worked on or waits to be yielded.
type window[R any] struct {
	results []chan R // of number i at i modulo the length
	started int
	queue   chan job[R] // has room for all results
	workers sync.WaitGroup
}

type job[R any] struct {
	i      int
	result chan<- R
}

// fill queues numbers until the window that begins at first is full.
func (w *window[R]) fill(first, n int) {
	for ; w.started < n && w.started < first+len(w.results); w.started++ {
		result := make(chan R, 1)
		w.results[w.started%len(w.results)] = result
		w.queue <- job[R]{w.started, result}
	}
}

// work takes one number after the other. A goroutine for each would have to grow its stack each time.
func (w *window[R]) work(ctx context.Context, work func(context.Context, int) R) {
	defer w.workers.Done()
	for job := range w.queue {
		job.result <- work(ctx, job.i)
		// Without this call, work that never blocks would fill the window before the consumer of the results runs. One
		// worker would do most of it.
		runtime.Gosched()
	}
}
