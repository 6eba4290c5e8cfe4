package controlplane

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// A finished build must not need the go command again, not even to find out that nothing changed.
func TestBuildTwice(t *testing.T) {
	first, err := Build(t.Context(), "")
	require.NoError(t, err)

	t.Setenv("PATH", "")
	second, err := Build(t.Context(), "")
	require.NoError(t, err)
	require.Equal(t, first, second)
}

func TestBuildUnknownVersion(t *testing.T) {
	_, err := Build(t.Context(), "1.2")
	require.EqualError(t, err, `controlplane: no Kubernetes version "1.2", only 1.33, 1.34, 1.35, 1.36, 1.37`)
}

func TestEnsureBuildsWhenSourcesChange(t *testing.T) {
	a := hello(t, `package main; func main() { println("one") }`)
	one, err := a.ensure(t.Context())
	require.NoError(t, err)

	writeFile(t, filepath.Join(a.module, "main.go"), `package main; func main() { println("two") }`)
	two, err := a.ensure(t.Context())
	require.NoError(t, err)
	require.NotEqual(t, one, two)
	require.NoDirExists(t, one, "the old build is of no use any more")

	output, err := exec.Command(filepath.Join(two, "renamed")).CombinedOutput()
	require.NoError(t, err)
	require.Equal(t, "two\n", string(output))
}

func TestEnsureBuildsOnce(t *testing.T) {
	builds := countBuilds(t)
	a := hello(t, `package main; func main() {}`)
	var group sync.WaitGroup
	for range 4 {
		group.Add(1)
		go func() {
			defer group.Done()
			dir, err := a.ensure(t.Context())
			if err != nil || !exists(filepath.Join(dir, "renamed")) {
				t.Errorf("ensure: %q, %v", dir, err)
			}
		}()
	}
	group.Wait()
	require.Equal(t, 1, builds())
}

func TestEnsureReportsTheCompiler(t *testing.T) {
	a := hello(t, `package main; func main() { undefinedName() }`)
	_, err := a.ensure(t.Context())
	require.ErrorContains(t, err, "controlplane: building hello: exit status 1\n")
	require.ErrorContains(t, err, "undefined: undefinedName")

	left, err := filepath.Glob(filepath.Join(a.cache, "*-*"))
	require.NoError(t, err)
	require.Empty(t, left, "a build that failed leaves nothing")
}

// The flags that the caller builds with would ask for another module file, or for a C compiler.
func TestEnsureIgnoresGoFlags(t *testing.T) {
	t.Setenv("GOFLAGS", "-modfile=other.mod -race")
	t.Setenv("GOWORK", "/does/not/exist/go.work")
	_, err := hello(t, `package main; func main() {}`).ensure(t.Context())
	require.NoError(t, err)
}

// hello is an artifact that builds in a second.
func hello(t *testing.T, source string) artifact {
	module := t.TempDir()
	writeFile(t, filepath.Join(module, "go.mod"), "module hello\n\ngo 1.24\n")
	writeFile(t, filepath.Join(module, "main.go"), source)
	return artifact{
		cache:  t.TempDir(),
		name:   "hello",
		label:  "hello",
		module: module,
		args:   []string{"."},
		rename: map[string]string{"hello": "renamed"},
	}
}

// countBuilds puts a go command into PATH that counts its runs.
func countBuilds(t *testing.T) func() int {
	realGo, err := exec.LookPath("go")
	require.NoError(t, err)
	dir := t.TempDir()
	runs := filepath.Join(dir, "runs")
	script := "#!/bin/sh\necho >>'" + runs + "'\nexec '" + realGo + "' \"$@\"\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go"), []byte(script), 0o755))
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	return func() int {
		content, err := os.ReadFile(runs)
		require.NoError(t, err)
		return bytes.Count(content, []byte("\n"))
	}
}

func writeFile(t *testing.T, path, content string) {
	require.NoError(t, os.WriteFile(path, []byte(content), 0o644))
}
