// Package wholefile writes files as a whole: the old content stays as it is, or the new one is there, also if the
// program is killed in between. Only the user may read them. What isn't a file, such as a pipe, is written to.
package wholefile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// Target is where a path leads to.
type Target struct {
	// Path is the end of all links. A file need not be there.
	Path string
	// Through says that there is something else than a file, or the file that is standard output. It is written to and
	// stays what it is.
	Through bool
}

// Find follows the links of a path. One to a file that isn't there leads to where that file is made. A folder is an
// error.
func Find(path string) (Target, error) {
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return Target{}, &fs.PathError{Op: "write", Path: path, Err: syscall.EISDIR}
	case err == nil && (!info.Mode().IsRegular() || isOutput(info)):
		return Target{Path: path, Through: true}, nil
	}
	const most = 40 // as Linux
	for range most {
		info, err := os.Lstat(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return Target{Path: path}, nil
		case err != nil:
			return Target{}, err
		case info.Mode()&fs.ModeSymlink == 0:
			return Target{Path: path}, nil
		}
		next, err := os.Readlink(path)
		if err != nil {
			return Target{}, err
		}
		if !filepath.IsAbs(next) {
			next = filepath.Join(filepath.Dir(path), next)
		}
		path = next
	}
	return Target{}, &fs.PathError{Op: "open", Path: path, Err: errors.New("too many links")}
}

// isOutput reports whether a file is what the program prints to, as /dev/stdout is. Another file in its place would
// leave the caller with the old one.
func isOutput(info fs.FileInfo) bool {
	for _, output := range []*os.File{os.Stdout, os.Stderr} {
		if opened, err := output.Stat(); err == nil && os.SameFile(info, opened) {
			return true
		}
	}
	return false
}

// Write writes the content. To open a pipe may take until somebody reads it.
func (t Target) Write(content []byte) error {
	if t.Through {
		to, err := os.OpenFile(t.Path, os.O_WRONLY|os.O_APPEND, 0)
		if err != nil {
			return err
		}
		_, err = to.Write(content)
		return errors.Join(err, to.Close())
	}
	tmp, err := t.written(content)
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name()) // fails after the rename
	if err := replace(tmp, t.Path); err != nil {
		return err
	}
	return syncFolder(filepath.Dir(t.Path))
}

// Try finds out whether a file with the content could be written, and leaves what is there as it is. What isn't a file
// is only looked at.
func (t Target) Try(content []byte) error {
	if t.Through {
		return checkThrough(t.Path)
	}
	if err := checkReplace(t.Path); err != nil {
		return err
	}
	tmp, err := t.written(content)
	if err != nil {
		return err
	}
	return errors.Join(tmp.Close(), os.Remove(tmp.Name()))
}

// written returns a new file with the content, in the folder of the target. It is locked as long as it is open.
func (t Target) written(content []byte) (*os.File, error) {
	tmp, err := t.create()
	if err != nil {
		return nil, err
	}
	_, err = tmp.Write(content)
	if err == nil {
		err = tmp.Sync()
	}
	if err != nil {
		return nil, errors.Join(err, tmp.Close(), os.Remove(tmp.Name()))
	}
	return tmp, nil
}

func (t Target) create() (*os.File, error) {
	t.sweep()
	for {
		tmp, err := os.CreateTemp(filepath.Dir(t.Path), t.prefix()+"*"+suffix) // mode 0600
		if err != nil {
			return nil, err
		}
		if lock(tmp); IsAt(tmp, tmp.Name()) {
			return tmp, nil
		}
		_ = tmp.Close() // another program took it for one that was left behind
	}
}

const suffix = ".tmp"

func (t Target) prefix() string { return "." + filepath.Base(t.Path) + "-" }

// sweep removes what programs that were killed have left of writes to the same file.
func (t Target) sweep() {
	folder := filepath.Dir(t.Path)
	entries, _ := os.ReadDir(folder) // who can't list it can still write
	for _, e := range entries {
		middle, isOurs := strings.CutPrefix(e.Name(), t.prefix())
		middle, isTemporary := strings.CutSuffix(middle, suffix)
		if !isOurs || !isTemporary || strings.Trim(middle, "0123456789") != "" || !e.Type().IsRegular() {
			continue
		}
		removeAbandoned(filepath.Join(folder, e.Name()))
	}
}

// removeOld removes a file that was last written longer ago than any write takes.
func removeOld(path string) {
	const old = 24 * time.Hour
	if info, err := os.Lstat(path); err == nil && time.Since(info.ModTime()) > old {
		_ = os.Remove(path)
	}
}

// IsAt reports whether an open file is what stands at a path, where a link is something else.
func IsAt(file *os.File, path string) bool {
	opened, err := file.Stat()
	now, errNow := os.Lstat(path)
	return err == nil && errNow == nil && os.SameFile(opened, now)
}

// Cause returns the error of a file without the path, which may be that of a temporary one.
func Cause(err error) error {
	var inPath *fs.PathError
	var inRename *os.LinkError
	switch {
	case errors.As(err, &inPath):
		return inPath.Err
	case errors.As(err, &inRename):
		return inRename.Err
	}
	return err
}
