//go:build unix

package statefile

import (
	"context"
	"errors"
	"os"
	"syscall"
	"time"
)

// lock locks a file until it is closed: for the caller alone, or together with others that read.
func lock(ctx context.Context, file *os.File, alone bool) error {
	how := syscall.LOCK_SH
	if alone {
		how = syscall.LOCK_EX
	}
	for {
		err := syscall.Flock(int(file.Fd()), how|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			return err
		}
		select {
		case <-time.After(patience):
		case <-ctx.Done():
			return errors.New("interrupted while another program has it locked")
		}
	}
}
