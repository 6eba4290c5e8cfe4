//go:build !unix

package projection_test

import "time"

var started = time.Now()

func processorTime() time.Duration { return time.Since(started) }
