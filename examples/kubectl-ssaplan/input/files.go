package input

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ssaplan/primitives/ssaplan/manifest"
)

// extensions are those of the files that are read from a folder.
var extensions = []string{".json", ".yaml", ".yml"}

// Extensions returns those of the files that are read from a folder.
func Extensions() []string { return slices.Clone(extensions) }

func (from Sources) readPath(ctx context.Context, path string) ([]manifest.Manifest, []*manifest.Error) {
	info, err := os.Stat(path)
	if err == nil && info.IsDir() {
		return from.readFolder(ctx, path)
	}
	return from.readFile(ctx, path)
}

func (from Sources) readFile(ctx context.Context, path string) ([]manifest.Manifest, []*manifest.Error) {
	file := filepath.Clean(path)
	found, err := unlessDone(ctx, func() (part, error) {
		return withFile(path, func(r io.Reader) (part, error) { return from.parse(file, r) })
	})
	return found.unless(err, file)
}

// part is what stands in a file, or in what is like one.
type part struct {
	manifests []manifest.Manifest
	failures  []*manifest.Error
}

// parse reads the manifests of a file, document by document, of which there have to be some.
func (from Sources) parse(file string, stream io.Reader) (found part, err error) {
	wanted := from.Wanted
	if wanted == nil {
		wanted = func(manifest.Manifest) bool { return true }
	}
	found.manifests, found.failures, err = manifest.Read(file, bounded(stream), wanted)
	if err == nil && len(found.manifests)+len(found.failures) == 0 {
		problem := "is empty; write at least one object into it, or leave it out"
		found.failures = []*manifest.Error{{Source: manifest.Source{File: file}, Problem: problem}}
	}
	return found, err
}

// unless returns what was found, or the failure of the whole file if there was an error.
func (found part) unless(err error, file string) ([]manifest.Manifest, []*manifest.Error) {
	if err != nil {
		return nil, []*manifest.Error{fileError(file, err)}
	}
	return found.manifests, found.failures
}

func (from Sources) readFolder(ctx context.Context,
	folder string) (manifests []manifest.Manifest, failures []*manifest.Error) {
	files := 0
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return fs.SkipAll
		case err != nil:
			failures = append(failures, fileError(path, err))
		case entry.IsDir():
			if path != folder && !from.Recursive {
				return fs.SkipDir
			}
		case slices.Contains(extensions, strings.ToLower(filepath.Ext(path))):
			files++
			found, failed := from.readFile(ctx, path)
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
		if !from.Recursive {
			problem += "; -R looks into its folders, too"
		}
		failures = append(failures,
			&manifest.Error{Source: manifest.Source{File: filepath.Clean(folder)}, Problem: problem})
	}
	return manifests, failures
}

// fileError says without repeating the path why a file can't be read.
func fileError(file string, err error) *manifest.Error {
	failure := &manifest.Error{Source: manifest.Source{File: filepath.Clean(file)}}
	var cause *fs.PathError
	switch {
	case errors.Is(err, tooLarge(maxSize)):
		failure.Problem = err.Error()
	case errors.Is(err, fs.ErrNotExist):
		failure.Problem = "there is no such file or folder; check the path"
	case errors.Is(err, fs.ErrPermission):
		failure.Problem = "may not be read; check the permissions of the file"
	case errors.As(err, &cause):
		failure.Problem = fmt.Sprintf("can't be read: %v", cause.Err)
	default:
		failure.Problem = fmt.Sprintf("can't be read: %v", err)
	}
	return failure
}
