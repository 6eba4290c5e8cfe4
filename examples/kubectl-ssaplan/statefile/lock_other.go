//go:build !unix && !windows

package statefile

import (
	"context"
	"os"
)

// lock does nothing: where there is neither flock nor LockFileEx, a state file is for one program at a time.
func lock(context.Context, *os.File, bool) error { return nil }
