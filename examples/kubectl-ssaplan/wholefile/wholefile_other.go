//go:build !unix

package wholefile

import (
	"io/fs"
	"os"
)

// asItStands is nothing here; a link is found out when it is open.
const asItStands = 0

func lock(*os.File) {}

// removeAbandoned removes a file that has been there for long: without locks nobody knows whether a new one is still
// being written.
func removeAbandoned(path string) { removeOld(path) }

func checkThrough(string) error { return nil }

func checkReplace(string) error { return nil }

// replace puts a file in the place of another one. An open file can't be renamed.
func replace(tmp *os.File, path string) error {
	if err := tmp.Close(); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), path)
}

// syncFolder does nothing: not every system opens folders.
func syncFolder(string) error { return nil }

// isOthers reports that a file is nobody else's: its modes and owners don't tell.
func isOthers(fs.FileInfo) bool { return false }
