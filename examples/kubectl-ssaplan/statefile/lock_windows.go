package statefile

import (
	"context"
	"errors"
	"os"
	"time"

	"golang.org/x/sys/windows"
)

// lock locks a file until it is closed: for the caller alone, or together with others that read. Windows keeps the
// locked bytes from everybody else, so it is the first byte behind all that a file can have.
func lock(ctx context.Context, file *os.File, alone bool) error {
	how := uint32(windows.LOCKFILE_FAIL_IMMEDIATELY)
	if alone {
		how |= windows.LOCKFILE_EXCLUSIVE_LOCK
	}
	at := windows.Overlapped{OffsetHigh: 1 << 30}
	for {
		err := windows.LockFileEx(windows.Handle(file.Fd()), how, 0, 1, 0, &at)
		if !errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
			return err
		}
		select {
		case <-time.After(patience):
		case <-ctx.Done():
			return errors.New("interrupted while another program has it locked")
		}
	}
}
