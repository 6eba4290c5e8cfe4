package controlplane

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
)

// Build returns the folder with the binaries kube-apiserver, etcd and kubectl of a Kubernetes minor version such as
// "1.36". It builds them if they don't exist yet. If version is empty, it uses the version in the environment variable
// SSAPLAN_SERVER, or the default version if the variable isn't set.
//
// Any number of processes may call Build at the same time; one of them builds. Progress goes to standard error.
func Build(ctx context.Context, version string) (dir string, err error) {
	r, err := findRelease(version)
	if err != nil {
		return "", err
	}
	// The launcher comes along, so that a Start after a Build has nothing left to build.
	if _, err := buildLauncher(ctx); err != nil {
		return "", err
	}
	return r.binaries().ensure(ctx)
}

func (r release) binaries() artifact {
	return artifact{
		cache:  cacheDir(r.source),
		name:   r.version,
		label:  "kube-apiserver, etcd and kubectl " + r.version,
		module: r.module(),
		args:   []string{"-ldflags=-s -w -X k8s.io/component-base/version.gitVersion=" + r.version, "tool"},
		rename: map[string]string{"server": "etcd"},
	}
}

// buildLauncher returns the path of the launcher's binary.
func buildLauncher(ctx context.Context) (string, error) {
	source, err := sourceDir()
	if err != nil {
		return "", err
	}
	dir, err := artifact{
		cache:  cacheDir(source),
		name:   "launcher",
		label:  "the launcher",
		module: filepath.Join(source, "launcher"),
		args:   []string{"-ldflags=-s -w", "."},
	}.ensure(ctx)
	return filepath.Join(dir, "launcher"), err
}

// An artifact is what go build makes of one module. It is kept in a folder whose name changes with the files of the
// module and the version of Go.
type artifact struct {
	cache  string            // folder of the artifact's folder
	name   string            // start of the folder's name
	label  string            // what to call it when talking to people
	module string            // folder of the module
	args   []string          // for go build
	rename map[string]string // binaries whose name isn't the usual one
}

// ensure returns the artifact's folder in the cache, after building it if it isn't there.
func (a artifact) ensure(ctx context.Context) (string, error) {
	key, err := a.key()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(a.cache, a.name+"-"+key)
	if exists(dir) {
		return dir, nil
	}
	unlock, err := lock(ctx, a.cache)
	if err != nil {
		return "", err
	}
	defer unlock()
	if exists(dir) { // built while this process waited for the lock
		return dir, nil
	}
	return dir, a.build(ctx, dir)
}

// build makes dir appear with all its binaries or not at all. The caller holds the lock of the cache.
func (a artifact) build(ctx context.Context, dir string) error {
	// Whatever is there is of an older build, or of one that was killed.
	for _, pattern := range []string{a.name + "-*", "tmp-*"} {
		if err := removeMatching(a.cache, pattern); err != nil {
			return err
		}
	}
	tmp, err := os.MkdirTemp(a.cache, "tmp-")
	if err != nil {
		return fmt.Errorf("controlplane: %w", err)
	}
	defer os.RemoveAll(tmp)

	if err := goBuild(ctx, a.label, a.module, tmp, a.args); err != nil {
		return err
	}
	for from, to := range a.rename {
		if err := os.Rename(filepath.Join(tmp, from), filepath.Join(tmp, to)); err != nil {
			return fmt.Errorf("controlplane: %w", err)
		}
	}
	if err := os.Rename(tmp, dir); err != nil {
		return fmt.Errorf("controlplane: %w", err)
	}
	return nil
}

// key is a short hash of all that decides what the binaries look like. The version of Go is the one that compiled this
// program: asking the go command would take longer than all the rest.
func (a artifact) key() (string, error) {
	hash := sha256.New()
	fmt.Fprintln(hash, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	files, err := os.ReadDir(a.module) // sorted by name
	if err != nil {
		return "", fmt.Errorf("controlplane: %w", err)
	}
	for _, file := range files {
		content, err := os.ReadFile(filepath.Join(a.module, file.Name()))
		if err != nil {
			return "", fmt.Errorf("controlplane: %w", err)
		}
		fmt.Fprintf(hash, "%s %d\n%s", file.Name(), len(content), content)
	}
	return fmt.Sprintf("%x", hash.Sum(nil))[:10], nil
}
