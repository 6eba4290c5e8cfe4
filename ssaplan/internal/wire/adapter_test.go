package wire

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/ssaplan/primitives/ssaplan/internal/native"
	"github.com/ssaplan/primitives/ssaplan/internal/warnings"
	"github.com/ssaplan/primitives/ssaplan/internal/wiretest"
	"github.com/ssaplan/primitives/ssaplan/server"
)

// The requests that the server of a caller sent again count, and the warnings of its answers are collected.
func TestAnswersOfAServer(t *testing.T) {
	answer := &unstructured.Unstructured{Object: map[string]any{"kind": "ConfigMap"}}
	api := &wiretest.Minimal{Answer: server.Response{Object: answer, Warnings: []string{"w", "w"}, Requests: 3}}
	resource := New(api, Options{}).Resource(wiretest.ConfigMaps, wiretest.A)
	ctx, collected := warnings.Collect(t.Context())
	obj, err := resource.Get(ctx, "a", metav1.GetOptions{})
	require.NoError(t, err)
	assert.Same(t, answer, obj)
	assert.Equal(t, 3, resource.Requests())
	assert.Len(t, collected.All(), 1)
	assert.Equal(t, []server.Ref{{Kind: wiretest.ConfigMaps, Namespace: "n", Name: "a"}}, api.Refs)

	_, err = resource.Apply(t.Context(), "a", nil, metav1.PatchOptions{}, "scale")
	require.NoError(t, err)
	assert.Equal(t, "scale", api.Refs[1].Subresource)
	assert.Equal(t, 6, resource.Requests())

	api.Answer.Object = nil
	_, err = resource.Get(ctx, "a", metav1.GetOptions{})
	require.ErrorIs(t, err, errNilAnswer)
	require.NoError(t, resource.Delete(ctx, "a", metav1.DeleteOptions{}))
	api.Err = errors.New("no")
	_, err = resource.Get(ctx, "a", metav1.GetOptions{})
	require.ErrorIs(t, err, api.Err)
}

// A server of a caller that resolves another kind than it was asked for is noticed.
func TestKindsOfAServer(t *testing.T) {
	api := &wiretest.Minimal{Kind: wiretest.ConfigMaps}
	s := New(api, Options{})
	found, err := s.Find(t.Context(), wiretest.ConfigMap)
	require.NoError(t, err)
	assert.Equal(t, wiretest.ConfigMaps, found)
	_, err = s.Find(t.Context(), schema.GroupVersionKind{Version: "v1", Kind: "Secret"})
	require.ErrorContains(t, err, "resolves /v1, Kind=ConfigMap")
	kind, err := s.Preferred(t.Context(), schema.GroupVersionKind{Kind: "ConfigMap"})
	require.NoError(t, err)
	assert.Equal(t, wiretest.ConfigMap, kind)
	api.Err = &meta.NoKindMatchError{}
	_, err = s.Find(t.Context(), wiretest.ConfigMap)
	require.True(t, meta.IsNoMatchError(err))
	api.Err = errors.New("no")
	_, err = s.Find(t.Context(), wiretest.ConfigMap)
	require.ErrorIs(t, err, api.Err)
}

// What a server of a caller can't do is never asked of it, and what it can is.
func TestWhatAServerCanDo(t *testing.T) {
	poor := New(&wiretest.Minimal{Kind: wiretest.ConfigMaps}, Options{})
	assert.False(t, poor.Lists())
	resource := poor.Resource(wiretest.ConfigMaps, wiretest.A)
	_, _, err := resource.Count(t.Context())
	require.ErrorIs(t, err, ErrNoLister)
	_, err = resource.Page(t.Context(), metav1.ListOptions{})
	require.ErrorIs(t, err, errNoObjectLister)
	_, ok := resource.Keep(t.Context(), native.Listed{})
	assert.False(t, ok)
	_, err = poor.Deletable(t.Context())
	require.ErrorIs(t, err, errNoDiscoverer)
	_, err = poor.Schemas(t.Context(), wiretest.ConfigMap.GroupVersion())
	require.ErrorIs(t, err, ErrNoSchema)
	assert.Zero(t, resource.Requests())
	assert.False(t, poor.HasVersions())

	api := &wiretest.Capable{Minimal: wiretest.Minimal{Kind: wiretest.ConfigMaps}, Version: "1", SchemaVersions: map[schema.GroupVersion]string{wiretest.ConfigMap.GroupVersion(): "a"}, Text: []byte("{}")}
	s := New(api, Options{})
	n, more, err := s.Resource(wiretest.ConfigMaps, wiretest.A).Count(t.Context())
	require.NoError(t, err)
	assert.Equal(t, 3, n)
	assert.False(t, more)
	found, err := s.Deletable(t.Context())
	require.NoError(t, err)
	assert.Equal(t, []server.Kind{wiretest.ConfigMaps}, found.Kinds)
	text, err := s.Schemas(t.Context(), wiretest.ConfigMap.GroupVersion())
	require.NoError(t, err)
	assert.Equal(t, "{}", string(text))
	api.Text = nil
	_, err = s.Schemas(t.Context(), wiretest.ConfigMap.GroupVersion())
	require.ErrorIs(t, err, ErrNoSchema)
}
