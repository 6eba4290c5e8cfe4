package manifest

import (
	"context"
	"io"
	"net/http"
)

// Stdin is the path that stands for standard input.
const Stdin = "-"

// Input says where the manifests are.
type Input struct {
	// Paths are files, folders, addresses that begin with http:// or https://, and [Stdin].
	Paths []string
	// Recursive reads the sub-folders of folders, too.
	Recursive bool
	// Kustomization is a folder with a kustomization.yaml, whose objects come last. Default: none.
	Kustomization string
	// Stdin is what [Stdin] reads.
	Stdin io.Reader
	// Client gets what stands at addresses. Default: one that waits for 30 seconds.
	Client *http.Client
}

// Read returns the manifests of the input, in the order of its paths, and of a folder in the order of the names. Of a
// folder the files with the extensions json, yaml and yml are read. Addresses and a kustomization aren't waited for when
// ctx ends.
func Read(ctx context.Context, in Input) (manifests []Manifest, failures []*Error) {
	take := func(found []Manifest, failed []*Error) {
		manifests = append(manifests, found...)
		failures = append(failures, failed...)
	}
	for _, path := range in.Paths {
		take(in.read(ctx, path))
	}
	if in.Kustomization != "" {
		take(readKustomization(ctx, in.Kustomization))
	}
	return manifests, failures
}

func (in Input) read(ctx context.Context, path string) ([]Manifest, []*Error) {
	switch {
	case path == Stdin:
		stream, err := io.ReadAll(in.Stdin)
		return parseRead("stdin", stream, err)
	case isAddress(path):
		return readAddress(ctx, in.Client, path)
	}
	return readPath(path, in.Recursive)
}
