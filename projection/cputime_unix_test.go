//go:build unix

package projection_test

import (
	"syscall"
	"time"
)

// processorTime returns how long the process has computed. Other processes don't change it, unlike the time of day.
func processorTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
