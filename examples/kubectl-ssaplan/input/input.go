package input

import (
	"context"
	"io"
	"net/http"

	"github.com/ssaplan/primitives/ssaplan/manifest"
)

// Stdin is the path that stands for standard input.
const Stdin = "-"

// Sources says where the manifests are.
type Sources struct {
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
	// Wanted reports which manifests are wanted; see [manifest.Read]. Default: all are.
	Wanted func(manifest.Manifest) bool
}

// Read returns the manifests of all sources, in the order of its paths, and of a folder in the order of the names. Of a
// folder the files with the extensions json, yaml and yml are read. Nothing is waited for when ctx ends.
func Read(ctx context.Context, from Sources) (manifests []manifest.Manifest, failures []*manifest.Error) {
	take := func(found []manifest.Manifest, failed []*manifest.Error) {
		manifests = append(manifests, found...)
		failures = append(failures, failed...)
	}
	for _, path := range from.Paths {
		take(from.read(ctx, path))
	}
	if from.Kustomization != "" {
		take(from.readKustomization(ctx))
	}
	return manifests, failures
}

func (from Sources) read(ctx context.Context, path string) ([]manifest.Manifest, []*manifest.Error) {
	switch {
	case path == Stdin:
		found, err := unlessDone(ctx, func() (part, error) { return from.parse("stdin", from.Stdin) })
		return found.unless(err, "stdin")
	case isAddress(path):
		return from.readAddress(ctx, path)
	}
	return from.readPath(ctx, path)
}
