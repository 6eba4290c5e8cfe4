package wire

import (
	"context"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// Apply sends a server-side apply. If its answer is byte for byte the answer to the [Resource.Get] right before, both
// return the same object. A dry run that would write nothing has such an answer. Only the client of package client does
// this; others usually return two objects. Before a dry run, Apply may check with another request whether the server
// receives the dryRun.
func (r *Resource) Apply(ctx context.Context, name string, body []byte,
	options metav1.PatchOptions, sub ...string) (*unstructured.Unstructured, error) {
	if isTry(options) {
		if err := r.checkApply(ctx, name, body, options, sub); err != nil {
			return nil, err
		}
	}
	return r.patch(ctx, name, types.ApplyPatchType, body, options, sub...)
}

// isTry reports whether the options are those of a dry run.
func isTry(options metav1.PatchOptions) bool {
	return slices.Equal(options.DryRun, []string{metav1.DryRunAll})
}

// JSONPatch sends a JSON patch. Before a dry run, it may check the server as [Resource.Apply] does.
func (r *Resource) JSONPatch(ctx context.Context, name string, patch []byte,
	options metav1.PatchOptions) (*unstructured.Unstructured, error) {
	if isTry(options) {
		if err := r.checkJSONPatch(ctx, name, options); err != nil {
			return nil, err
		}
	}
	return r.patch(ctx, name, types.JSONPatchType, patch, options)
}
