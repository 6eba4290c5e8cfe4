package manifest

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// extensions are those of the files that are read from a folder.
var extensions = []string{".json", ".yaml", ".yml"}

// Extensions returns those of the files that are read from a folder.
func Extensions() []string { return slices.Clone(extensions) }

func readPath(path string, recursive bool) ([]Manifest, []*Error) {
	info, err := os.Stat(path)
	if err == nil && info.IsDir() {
		return readFolder(path, recursive)
	}
	return readFile(path)
}

func readFile(path string) ([]Manifest, []*Error) {
	stream, err := os.ReadFile(path)
	return parseRead(filepath.Clean(path), stream, err)
}

func parseRead(file string, stream []byte, err error) ([]Manifest, []*Error) {
	if err != nil {
		return nil, []*Error{fileError(file, err)}
	}
	return parse(file, stream)
}

func readFolder(folder string, recursive bool) (manifests []Manifest, failures []*Error) {
	files := 0
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			failures = append(failures, fileError(path, err))
		case entry.IsDir():
			if path != folder && !recursive {
				return fs.SkipDir
			}
		case slices.Contains(extensions, strings.ToLower(filepath.Ext(path))):
			files++
			found, failed := readFile(path)
			manifests = append(manifests, found...)
			failures = append(failures, failed...)
		}
		return nil
	})
	if err != nil {
		failures = append(failures, fileError(folder, err))
	}
	if files == 0 && len(failures) == 0 {
		problem := "has no file that ends in " + strings.Join(extensions, ", ")
		if !recursive {
			problem += "; -R looks into its folders, too"
		}
		failures = append(failures, &Error{Source: Source{File: filepath.Clean(folder)}, Problem: problem})
	}
	return manifests, failures
}

// fileError says without repeating the path why a file can't be read.
func fileError(file string, err error) *Error {
	failure := &Error{Source: Source{File: filepath.Clean(file)}}
	var cause *fs.PathError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		failure.Problem = "there is no such file or folder; check the path after -f"
	case errors.Is(err, fs.ErrPermission):
		failure.Problem = "may not be read; check the permissions of the file"
	case errors.As(err, &cause):
		failure.Problem = fmt.Sprintf("can't be read: %v", cause.Err)
	default:
		failure.Problem = fmt.Sprintf("can't be read: %v", err)
	}
	return failure
}
