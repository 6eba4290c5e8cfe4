package driver

import (
	"bytes"
	"fmt"
	"os"
	"syscall"
	"time"
)

// ProcessorTime returns how long this process and those that it started and waited for have computed.
func ProcessorTime() time.Duration {
	var sum time.Duration
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		u := usage(who)
		sum += time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	return sum
}

// childMemory returns the peak of the resident memory of the processes that this one started, 0 if there were none.
func childMemory() uint64 {
	return uint64(usage(syscall.RUSAGE_CHILDREN).Maxrss) << 10
}

func usage(who int) (u syscall.Rusage) {
	if err := syscall.Getrusage(who, &u); err != nil {
		panic(err) // only for an unknown who
	}
	return u
}

// ownMemory returns the peak of the resident memory of this process. It doesn't ask for the resource usage, which on
// Linux counts what the process had before it began to execute this program.
func ownMemory() uint64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	var kilobytes uint64
	for line := range bytes.Lines(status) {
		if _, err := fmt.Sscanf(string(line), "VmHWM: %d kB", &kilobytes); err == nil {
			return kilobytes << 10
		}
	}
	return 0
}
