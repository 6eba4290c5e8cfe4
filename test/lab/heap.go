package lab

import (
	"math"
	"runtime"
)

// Heap returns how many bytes of the heap are in use: the least of some looks, since what is used for a moment while
// one is taken is none of it.
func Heap() int {
	var stats runtime.MemStats
	least := math.MaxInt
	for range 10 {
		runtime.GC()
		runtime.ReadMemStats(&stats)
		least = min(least, int(stats.HeapAlloc))
	}
	return least
}
