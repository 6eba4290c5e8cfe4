package controlplane

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// cacheDir returns the folder that holds all artifacts, given the folder of this file.
func cacheDir(source string) string {
	return filepath.Join(source, "..", "..", ".cache", "controlplane")
}

// lock waits until no other process builds. A process that dies gives its lock back.
func lock(ctx context.Context, cache string) (unlock func(), err error) {
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return nil, fmt.Errorf("controlplane: %w", err)
	}
	file, err := os.OpenFile(filepath.Join(cache, "lock"), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, fmt.Errorf("controlplane: %w", err)
	}
	if err := flock(ctx, file); err != nil {
		return nil, errors.Join(fmt.Errorf("controlplane: waiting for another build: %w", err), file.Close())
	}
	return func() { file.Close() }, nil
}

func flock(ctx context.Context, file *os.File) error {
	for waiting := false; ; waiting = true {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			return err
		}
		if !waiting {
			say("waiting for another build")
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
}

func removeMatching(dir, pattern string) error {
	paths, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil {
		return fmt.Errorf("controlplane: %w", err)
	}
	for _, path := range paths {
		if err := os.RemoveAll(path); err != nil {
			return fmt.Errorf("controlplane: %w", err)
		}
	}
	return nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// say prints a line about the progress to standard error.
func say(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "controlplane: "+format+"\n", args...)
}
