package wire

import (
	"context"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// Apply sends a server-side apply. If the answer is byte for byte that of the [Resource.Get] right before, as that of a
// dry run that would write nothing is, both return the same object. Other clients than that of package client usually
// return two. Before a dry run is sent, the server may be asked whether it gets that it is one.
func (r *Resource) Apply(ctx context.Context, name string, body []byte,
	options metav1.PatchOptions, sub ...string) (*unstructured.Unstructured, error) {
	if isTry(options) {
		if err := r.checkApply(ctx, name, body, options, sub); err != nil {
			return nil, err
		}
	}
	return r.patch(ctx, name, types.ApplyPatchType, body, options, sub...)
}

// isTry reports whether a patch is a dry run of one.
func isTry(options metav1.PatchOptions) bool {
	return slices.Equal(options.DryRun, []string{metav1.DryRunAll})
}

// JSONPatch sends a JSON patch. Before a dry run is sent, the server may be asked as for that of [Resource.Apply].
func (r *Resource) JSONPatch(ctx context.Context, name string, patch []byte,
	options metav1.PatchOptions) (*unstructured.Unstructured, error) {
	if isTry(options) {
		if err := r.checkJSONPatch(ctx, name, options); err != nil {
			return nil, err
		}
	}
	return r.patch(ctx, name, types.JSONPatchType, patch, options)
}
