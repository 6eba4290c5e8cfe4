package input

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// canary is the secret value of the tests. No error may show it.
const canary = "c4n4ry"

func object(name string) string {
	return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + "}\n"
}

// folder writes files and makes their folder the current one.
func folder(t *testing.T, files map[string]string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, content := range files {
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
		require.NoError(t, os.WriteFile(name, []byte(content), 0o600))
	}
}

// read returns what Read finds, each in one line.
func read(stdin string, recursive bool, paths ...string) (found, failed []string) {
	manifests, failures := Read(context.Background(), Sources{Paths: paths, Recursive: recursive, Stdin: strings.NewReader(stdin)})
	for _, m := range manifests {
		found = append(found, m.Source.Key()+" "+m.Identity.Name)
	}
	for _, f := range failures {
		failed = append(failed, f.Error())
	}
	return found, failed
}

func TestRead(t *testing.T) {
	folder(t, map[string]string{
		"b.yaml": object("b1") + "---\n" + object("b2"), "a.json": `{"apiVersion":"v1","kind":"K","metadata":{"name":"a"}}`,
		"c.YML": object("c"), "README.md": "no manifest", "sub/d.yaml": object("d"), "sub/deep/e.yml": object("e"),
	})
	found, failed := read("", false, ".")
	assert.Empty(t, failed)
	assert.Equal(t, []string{"a.json#1 a", "b.yaml#1 b1", "b.yaml#2 b2", "c.YML#1 c"}, found, "in the order of the names")

	found, failed = read("", true, "sub", "./b.yaml")
	assert.Empty(t, failed)
	assert.Equal(t, []string{"sub/d.yaml#1 d", "sub/deep/e.yml#1 e", "b.yaml#1 b1", "b.yaml#2 b2"}, found, "in the order of the paths")

	found, failed = read(object("s"), false, "-")
	assert.Empty(t, failed)
	assert.Equal(t, []string{"stdin#1 s"}, found)

	found, failed = read("", false, "README.md")
	assert.Empty(t, found)
	assert.Equal(t, []string{"README.md: document 1 (line 1): expected an object with apiVersion, kind and metadata, found a string"}, failed,
		"a file that is named is read whatever its extension")
}

func TestReadErrors(t *testing.T) {
	folder(t, map[string]string{
		"empty.yaml": "", "comments.yaml": "# nothing yet\n---\n", "none/README.md": "", "only/sub/a.yaml": object("a"),
		"good.yaml": object("good"),
	})
	tests := []struct {
		path      string
		recursive bool
		want      string
	}{
		{"empty.yaml", false, "empty.yaml: is empty; write at least one object into it, or leave it out"},
		{"comments.yaml", false, "comments.yaml: is empty; write at least one object into it, or leave it out"},
		{"-", false, "stdin: is empty; write at least one object into it, or leave it out"},
		{"./missing.yaml", false, "missing.yaml: there is no such file or folder; check the path"},
		{"missing/", false, "missing: there is no such file or folder; check the path"},
		{"none", false, "none: has no file that ends in .json, .yaml, .yml; -R looks into its folders, too"},
		{"none", true, "none: has no file that ends in .json, .yaml, .yml"},
		{"only", false, "only: has no file that ends in .json, .yaml, .yml; -R looks into its folders, too"},
		{"good.yaml/x", false, "good.yaml/x: can't be read: not a directory"},
	}
	for _, tt := range tests {
		t.Run(tt.path, func(t *testing.T) {
			found, failed := read("", tt.recursive, tt.path, "good.yaml")
			assert.Equal(t, []string{tt.want}, failed)
			assert.Equal(t, []string{"good.yaml#1 good"}, found, "the others are read all the same")
		})
	}
}

// endless is a pipe or device that never ends. It counts the bytes read, and fails once a reader has read far too many.
type endless struct{ read int }

func (e *endless) Read(p []byte) (int, error) {
	if e.read > 2*maxSize {
		return 0, errors.New("nobody stops reading")
	}
	clear(p)
	e.read += len(p)
	return len(p), nil
}

func TestReadIsBounded(t *testing.T) {
	const want = "is larger than 64 MiB; check what it is, or split it up"
	pipe := &endless{}
	_, failures := Read(t.Context(), Sources{Paths: []string{"-"}, Stdin: pipe})
	require.Len(t, failures, 1)
	assert.EqualError(t, failures[0], "stdin: "+want)
	assert.LessOrEqual(t, pipe.read, maxSize+1)

	folder(t, map[string]string{"good.yaml": object("good"), "large.yaml": ""})
	require.NoError(t, os.Truncate("large.yaml", maxSize+1))
	found, failed := read("", false, ".")
	assert.Equal(t, []string{"good.yaml#1 good"}, found, "the others are read all the same")
	assert.Equal(t, []string{"large.yaml: " + want}, failed)

	_, failed = read("", false, "/dev/zero")
	assert.Equal(t, []string{"/dev/zero: " + want}, failed)
}

func TestReadBrokenStdin(t *testing.T) {
	manifests, failures := Read(t.Context(), Sources{Paths: []string{"-"}, Stdin: iotest.ErrReader(errors.New("gone"))})
	assert.Empty(t, manifests)
	require.Len(t, failures, 1)
	assert.EqualError(t, failures[0], "stdin: can't be read: gone")
}

func TestReadWithoutPermission(t *testing.T) {
	const want = "a.yaml: may not be read; check the permissions of the file"
	refused := &fs.PathError{Op: "open", Path: "a.yaml", Err: syscall.EACCES} // what anybody but root gets
	assert.EqualError(t, fileError("a.yaml", fmt.Errorf("reading: %w", refused)), want)

	folder(t, map[string]string{"a.yaml": object("a")})
	require.NoError(t, os.Chmod("a.yaml", 0))
	found, failed := read("", false, "a.yaml")
	if os.Geteuid() == 0 {
		assert.Equal(t, []string{"a.yaml#1 a"}, found, "root may read everything")
	} else {
		assert.Equal(t, []string{want}, failed)
	}
}
