package handover

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/ssaplan/internal/liveobject"
)

// ServerOf returns the [Server] that tries an apply to the live object with these options. If pinned, the apply is
// tried only for this version of the object, and otherwise for the version that the server has. A pair is for an object
// that others write all the time: then patches are tried for the managedFields of the object, and not for its version.
func ServerOf(
	ctx context.Context, target *liveobject.Target, live *unstructured.Unstructured, options metav1.PatchOptions,
	pinned bool,
	pair *liveobject.Pair,
) Server {
	try := target.Try
	if pinned {
		try = target.TryPinned
	}
	forced, force := options, true
	forced.Force = &force
	server := Server{
		Forced: options.Force != nil && *options.Force,
		HandOver: func(body []byte) (*unstructured.Unstructured, error) {
			return target.Patch(ctx, live, body, options.FieldManager, metav1.DryRunAll)
		},
		Apply: func(body []byte) (*unstructured.Unstructured, error) {
			return Apply(ctx, target, live, body, options, pinned, pair)
		},
		Force: func(body []byte) (*unstructured.Unstructured, error) { return try(ctx, live, body, forced) },
		Patch: func(body []byte) (*unstructured.Unstructured, error) {
			return target.Patch(ctx, live, body, options.FieldManager, metav1.DryRunAll)
		},
		Create: func(manifest map[string]any) (*unstructured.Unstructured, error) {
			return target.TryCreate(ctx, manifest, options, true)
		},
	}
	if pair == nil {
		return server
	}
	server.HandOver = func(body []byte) (*unstructured.Unstructured, error) {
		_, made, err := target.TryByRecord(ctx, live, body, options.FieldManager)
		return made, err
	}
	server.Patch = func(body []byte) (*unstructured.Unstructured, error) {
		return target.TryContent(ctx, live, body, options.FieldManager)
	}
	return server
}

// Apply tries the apply of a body to the live object, as a [Server] does. If pinned, it is tried for just this version.
func Apply(
	ctx context.Context, target *liveobject.Target, live *unstructured.Unstructured, body []byte,
	options metav1.PatchOptions,
	pinned bool, pair *liveobject.Pair,
) (*unstructured.Unstructured, error) {
	switch {
	case pair != nil:
		return pair.Try(ctx, target, live, body, options)
	case pinned:
		return target.TryPinned(ctx, live, body, options)
	}
	return target.Try(ctx, live, body, options)
}
