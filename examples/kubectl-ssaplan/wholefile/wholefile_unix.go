//go:build unix

package wholefile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// asItStands opens what is at a path, and no file that a link leads to. It doesn't wait for the other end of a pipe.
const asItStands = syscall.O_NOFOLLOW | syscall.O_NONBLOCK

// lock locks a file until it is closed or the program ends. Where the file system knows no locks, no file is taken for
// abandoned either.
func lock(file *os.File) {
	for errors.Is(syscall.Flock(int(file.Fd()), syscall.LOCK_EX), syscall.EINTR) {
	}
}

// removeAbandoned removes a file that nobody has locked. Where the file system knows no locks, it goes by its age.
func removeAbandoned(path string) {
	file, err := os.Open(path)
	if err != nil {
		return
	}
	defer file.Close()
	switch err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); {
	case err == nil:
		_ = os.Remove(path)
	case !errors.Is(err, syscall.EWOULDBLOCK):
		removeOld(path)
	}
}

// checkThrough returns an error if nobody may write to what isn't a file. To open a pipe for that would end who reads
// from it.
func checkThrough(path string) error {
	if info, err := os.Stat(path); err == nil && info.Mode()&fs.ModeSocket != 0 {
		return &fs.PathError{Op: "write", Path: path, Err: errors.New("is a socket")}
	}
	if err := unix.Faccessat(unix.AT_FDCWD, path, unix.W_OK, unix.AT_EACCESS); err != nil {
		return &fs.PathError{Op: "write", Path: path, Err: err}
	}
	return nil
}

// checkReplace returns an error if a file stands in a folder, such as /tmp, where only its owner may put another one in
// its place.
func checkReplace(path string) error {
	info, err := os.Lstat(path)
	if err != nil {
		return nil // there is none
	}
	folder, err := os.Stat(filepath.Dir(path))
	if err != nil || folder.Mode()&fs.ModeSticky == 0 || os.Geteuid() == 0 || isOf(info, os.Geteuid()) ||
		isOf(folder, os.Geteuid()) {
		return err
	}
	return &fs.PathError{Op: "write", Path: path, Err: errors.New("belongs to another user")}
}

func isOf(info fs.FileInfo, uid int) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == uid
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

// isOthers reports whether a file belongs to another user than that of the program, and not to root, who may do
// everything. As for git, the files of who called sudo are no other's.
func isOthers(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok || stat.Uid == 0 || int(stat.Uid) == os.Geteuid() {
		return false
	}
	return os.Geteuid() != 0 || os.Getenv("SUDO_UID") != strconv.FormatUint(uint64(stat.Uid), 10)
}
