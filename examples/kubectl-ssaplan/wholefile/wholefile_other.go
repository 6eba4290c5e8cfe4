//go:build !unix

package wholefile

import (
	"io/fs"
	"os"
)

// Without locks nobody knows whether a file is still being written, so none is taken for abandoned.

func lock(*os.File) {}

func isAbandoned(*os.File) bool { return false }

// replace puts a file in the place of another one. An open file can't be renamed.
func replace(tmp *os.File, path string) error {
	if err := tmp.Close(); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), path)
}

// syncFolder does nothing: not every system opens folders.
func syncFolder(string) error { return nil }

// IsOthers reports that a file is nobody else's: its modes and owners don't tell.
func IsOthers(fs.FileInfo) bool { return false }
