package lab

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// Apply applies a manifest of an object, or of a subresource such as status, as a field manager, by force. It returns
// the object as it is then.
func (c *Cluster) Apply(
	t testing.TB, manager string, manifest *unstructured.Unstructured, subresources ...string,
) *unstructured.Unstructured {
	t.Helper()
	force := true
	applied, err := c.TryApply(t, manifest, metav1.PatchOptions{FieldManager: manager, Force: &force}, subresources...)
	require.NoError(t, err, "%s %s", manifest.GetKind(), manifest.GetName())
	return applied
}

// TryApply applies a manifest with some options, and returns the server's answer. The test fails only if the server
// doesn't have the kind.
func (c *Cluster) TryApply(
	t testing.TB, manifest *unstructured.Unstructured, options metav1.PatchOptions, subresources ...string,
) (*unstructured.Unstructured, error) {
	t.Helper()
	body, err := manifest.MarshalJSON()
	require.NoError(t, err)
	return c.Resource(t, manifest).Patch(context.Background(), manifest.GetName(), types.ApplyPatchType, body,
		options, subresources...)
}

// Patch sends a merge patch of the object that manifest names, or of a subresource such as status or scale, as a field
// manager.
func (c *Cluster) Patch(
	t testing.TB, manager string, manifest *unstructured.Unstructured, patch string, subresources ...string,
) {
	t.Helper()
	_, err := c.Resource(t, manifest).Patch(context.Background(), manifest.GetName(), types.MergePatchType,
		[]byte(patch),
		metav1.PatchOptions{FieldManager: manager}, subresources...)
	require.NoError(t, err, "%s %s", manifest.GetKind(), manifest.GetName())
}

// Get returns the object that manifest names, which has to exist.
func (c *Cluster) Get(t testing.TB, manifest *unstructured.Unstructured) *unstructured.Unstructured {
	t.Helper()
	live := c.Lookup(t, manifest)
	require.NotNil(t, live, "%s %s does not exist", manifest.GetKind(), manifest.GetName())
	return live
}

// Lookup returns the object that manifest names, or nil if there is none.
func (c *Cluster) Lookup(t testing.TB, manifest *unstructured.Unstructured) *unstructured.Unstructured {
	t.Helper()
	live, err := c.Resource(t, manifest).Get(context.Background(), manifest.GetName(), metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	require.NoError(t, err)
	return live
}

// Delete deletes the object that manifest names, which has to exist. Finalizers may keep it.
func (c *Cluster) Delete(t testing.TB, manifest *unstructured.Unstructured) {
	t.Helper()
	require.NoError(t, c.Resource(t, manifest).Delete(context.Background(), manifest.GetName(), metav1.DeleteOptions{}))
}
