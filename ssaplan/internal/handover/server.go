package handover

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/ssaplan/internal/wire"
)

// ServerOf returns where an apply to the live object is tried with these options; pinned to just that version of the
// object, or to whichever is there.
func ServerOf(
	ctx context.Context, target *wire.Target, live *unstructured.Unstructured, options metav1.PatchOptions, pinned bool,
) Server {
	try := target.Try
	if pinned {
		try = target.TryPinned
	}
	forced, force := options, true
	forced.Force = &force
	return Server{
		Forced: options.Force != nil && *options.Force,
		HandOver: func(body []byte) (*unstructured.Unstructured, error) {
			return target.Patch(ctx, live, body, options.FieldManager, metav1.DryRunAll)
		},
		Apply: func(body []byte) (*unstructured.Unstructured, error) { return try(ctx, live, body, options) },
		Force: func(body []byte) (*unstructured.Unstructured, error) { return try(ctx, live, body, forced) },
		Patch: func(body []byte) (*unstructured.Unstructured, error) {
			return target.Patch(ctx, live, body, options.FieldManager, metav1.DryRunAll)
		},
		Create: func(manifest map[string]any) (*unstructured.Unstructured, error) {
			return target.TryCreate(ctx, manifest, options, true)
		},
	}
}
