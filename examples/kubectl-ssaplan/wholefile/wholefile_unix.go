//go:build unix

package wholefile

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// lock locks a file until it is closed or the program ends. Where the file system knows no locks, no file is taken for abandoned either.
func lock(file *os.File) {
	for errors.Is(syscall.Flock(int(file.Fd()), syscall.LOCK_EX), syscall.EINTR) {
	}
}

// isAbandoned reports whether nobody has a file locked, and locks it.
func isAbandoned(file *os.File) bool {
	return syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil
}

// replace puts a file in the place of another one. It is locked until then.
func replace(tmp *os.File, path string) error {
	return errors.Join(os.Rename(tmp.Name(), path), tmp.Close())
}

// syncFolder has the disk remember which files are in a folder.
func syncFolder(path string) error {
	folder, err := os.Open(path)
	if err != nil {
		return err
	}
	err = folder.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSUP) { // some file systems don't know that
		err = nil
	}
	return errors.Join(err, folder.Close())
}

// IsOthers reports whether a file belongs to another user than that of the program, and not to root, who may do everything.
func IsOthers(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && stat.Uid != 0 && int(stat.Uid) != os.Geteuid()
}
