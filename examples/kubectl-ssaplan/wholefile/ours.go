package wholefile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
)

// distrust is why a file isn't trusted.
type distrust string

func (d distrust) Error() string { return string(d) }

// IsDistrust reports whether an error says that a file isn't trusted, and not what the system has to say.
func IsDistrust(err error) bool { return errors.As(err, new(distrust)) }

// Told says of an error that a file can't be read or written, as done has it. Distrust speaks for itself.
func Told(done string, err error) error {
	if IsDistrust(err) {
		return err
	}
	return fmt.Errorf("can't be %s: %w", done, Cause(err))
}

const noFile = distrust("is no file but a link, folder, device, pipe or socket; move it away")

// OpenOurs opens a file that decides what is done, or makes it if flag has [os.O_CREATE]. It is an error if it is no
// file, such as a link that somebody has put there a moment ago, or fails [CheckOurs].
func OpenOurs(path string, flag int) (*os.File, error) {
	file, err := os.OpenFile(path, flag|asItStands, 0o600)
	if info, errNow := os.Lstat(path); errNow == nil && !info.Mode().IsRegular() {
		err = noFile
	}
	if err == nil {
		err = checkOpened(file)
	}
	if err != nil {
		_ = file.Close() // nil is an error, too
		return nil, err
	}
	return file, nil
}

func checkOpened(file *os.File) error {
	if info, err := file.Stat(); err == nil && !info.Mode().IsRegular() {
		return noFile
	}
	return CheckOurs(file)
}

// CheckOurs returns an error if an open file or pipe is of another user, but root, or if everybody may write it: they
// could have objects deleted, or changes hidden. Its owner may share it with a group, as the fsGroup of a Pod does with
// all files of a volume. Windows has no such modes, and devices, such as terminals, are for the system to protect.
func CheckOurs(file *os.File) error {
	info, err := file.Stat()
	const others = 0o002
	switch {
	case err != nil:
		return err
	case info.Mode()&fs.ModeDevice != 0:
		return nil
	case isOthers(info):
		return distrust("belongs to another user, who decides what it says; read it, and name a copy of your own")
	case info.Mode()&others != 0 && runtime.GOOS != "windows":
		return distrust(fmt.Sprintf(
			"every user may write it (mode %v), and decide what it says; read it, and run chmod o-w", info.Mode()))
	}
	return nil
}
