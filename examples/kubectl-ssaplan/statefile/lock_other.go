//go:build !unix

package statefile

import (
	"context"
	"os"
)

// lock does nothing: where there is no flock, a state file is for one program at a time.
func lock(context.Context, *os.File, bool) error { return nil }
