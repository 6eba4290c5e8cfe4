package controlplane

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
)

const (
	versionEnv     = "SSAPLAN_SERVER"
	defaultVersion = "1.37"
)

// A release is one Kubernetes version that this package can build.
type release struct {
	source  string // folder of this file
	minor   string // such as "1.36"
	version string // such as "v1.36.3"
}

// module returns the folder of the module that pins everything.
func (r release) module() string { return filepath.Join(r.source, "v"+r.minor) }

// findRelease returns the release of a minor version such as "1.36". If minor is empty, it returns the release that the
// environment variable names, or the default release.
func findRelease(minor string) (release, error) {
	source, err := sourceDir()
	if err != nil {
		return release{}, err
	}
	r := release{source: source, minor: cmp.Or(minor, os.Getenv(versionEnv), defaultVersion)}
	gomod := filepath.Join(r.module(), "go.mod")
	content, err := os.ReadFile(gomod)
	if err != nil {
		return release{}, fmt.Errorf("controlplane: no Kubernetes version %q, only %s", r.minor, knownVersions(source))
	}
	match := kubernetesRequire.FindSubmatch(content)
	if match == nil {
		return release{}, fmt.Errorf("controlplane: %s requires no k8s.io/kubernetes", gomod)
	}
	r.version = string(match[1])
	return r, nil
}

var kubernetesRequire = regexp.MustCompile(`(?m)^\s*k8s\.io/kubernetes (v\S+)`)

func knownVersions(source string) string {
	dirs, _ := filepath.Glob(filepath.Join(source, "v[0-9]*"))
	for i, dir := range dirs {
		dirs[i] = strings.TrimPrefix(filepath.Base(dir), "v")
	}
	return strings.Join(dirs, ", ")
}

// sourceDir returns the folder of this file, which also holds the modules to build.
func sourceDir() (string, error) {
	_, file, _, _ := runtime.Caller(0)
	if !filepath.IsAbs(file) {
		return "", fmt.Errorf("controlplane: this program doesn't know where its source is; build it without -trimpath")
	}
	return filepath.Dir(file), nil
}
