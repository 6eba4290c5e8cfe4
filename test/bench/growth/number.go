package main

import (
	"context"
	"fmt"
	"runtime"
	"runtime/metrics"
	"time"

	"github.com/ssaplan/primitives/test/bench/driver"
)

// few is the number of objects that many are compared with.
const few = 100

// growthWithNumber compares what an object takes when many are planned at once with what it takes among few.
func (m *measurement) growthWithNumber(ctx context.Context) error {
	requests, err := m.requestsFor(ctx, m.n, small)
	if err != nil {
		return err
	}
	if err := plan(ctx, m.planner, requests[:few]); err != nil { // warms up
		return err
	}
	var walls, cpus []float64
	var heap uint64
	for range m.rounds {
		const repeats = 10
		among, err := timed(repeats*few, func() error {
			for i := range repeats {
				start := i * few % (len(requests) - few + 1)
				if err := plan(ctx, m.planner, requests[start:start+few]); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		stop := peakHeap()
		many, err := timed(m.n, func() error { return plan(ctx, m.planner, requests) })
		heap = max(heap, stop())
		if err != nil {
			return err
		}
		fmt.Printf("objects of 1 KB, %d at once: %v wall, %v CPU each; %d at once: %v wall, %v CPU each\n",
			few, among.wall, among.cpu, m.n, many.wall, many.cpu)
		walls = append(walls, float64(many.wall)/float64(among.wall))
		cpus = append(cpus, float64(many.cpu)/float64(among.cpu))
	}
	wall, cpu := driver.Median(walls), driver.Median(cpus)
	fmt.Printf("time of an object from %d to %d: wall × %.2f, CPU × %.2f\n", few, m.n, wall, cpu)
	fmt.Printf("figure: growth-%d-to-%d = %.2f\n", few, m.n, max(wall, cpu))
	fmt.Printf("figure: heap-over-inputs-mb = %.1f\n", float64(heap)/(1<<20))
	return nil
}

// peakHeap watches the heap, garbage included, seldom enough to cost next to nothing. The function that it returns ends
// that, and returns how far the heap grew over what it was at first.
func peakHeap() (stop func() uint64) {
	runtime.GC()
	inputs, peak := heapSize(), uint64(0)
	done, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for tick := time.NewTicker(20 * time.Millisecond); ; {
			select {
			case <-done:
				return
			case <-tick.C:
				peak = max(peak, heapSize())
			}
		}
	}()
	return func() uint64 {
		close(done)
		<-stopped
		return peak - min(peak, inputs)
	}
}

func heapSize() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
