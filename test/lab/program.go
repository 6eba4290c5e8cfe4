package lab

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// Program returns the path of the program whose main package is in folder. It is built with the flags in GOFLAGS, such
// as -race, and kept in .cache/programs: linking takes seconds, and go build leaves a program alone that is up to date.
// So all packages of tests together link it once.
func Program(t testing.TB, folder string) (path string) {
	t.Helper()
	return programFrom(t, folder)
}

// PlainProgram is Program without the race detector and cgo, for a program that starts too often for them.
func PlainProgram(t testing.TB, folder string) (path string) {
	t.Helper()
	return programFrom(t, folder, "-race=false", "-gcflags=all=") // which GOFLAGS may have
}

var programs sync.Map // of functions that build

func programFrom(t testing.TB, folder string, flags ...string) string {
	t.Helper()
	folder, err := filepath.Abs(folder)
	require.NoError(t, err)
	build, _ := programs.LoadOrStore(fmt.Sprint(folder, flags), sync.OnceValues(func() (string, error) {
		return program(folder, flags)
	}))
	path, err := build.(func() (string, error))()
	require.NoError(t, err)
	return path
}

func program(folder string, flags []string) (path string, err error) {
	env := os.Environ()
	if len(flags) > 0 {
		env = append(env, "CGO_ENABLED=0")
	}
	// Programs with other flags are other files: one may be running while the other is built.
	key := sha256.Sum256(fmt.Append(nil, os.Getenv("GOFLAGS"), os.Getenv("CGO_ENABLED"), flags))
	_, source, _, _ := runtime.Caller(0)
	bin := filepath.Join(filepath.Dir(source), "..", "..", ".cache", "programs", fmt.Sprintf("%x", key[:5]))
	if err := os.MkdirAll(bin, 0o755); err != nil {
		return "", err
	}
	path = filepath.Join(bin, filepath.Base(folder))
	lock, err := os.OpenFile(path+".lock", os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return "", err
	}
	defer lock.Close() // and with it the lock
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return "", err
	}
	build := exec.Command("go",
		append(append([]string{"build", "-buildvcs=false", "-ldflags=-s -w", "-o", path}, flags...), ".")...)
	build.Dir, build.Env = folder, env
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building %s: %w\n%s", folder, err, out)
	}
	return path, nil
}
