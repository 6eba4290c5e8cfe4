package wire

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/ssaplan/primitives/ssaplan/internal/native"
	"github.com/ssaplan/primitives/ssaplan/internal/warnings"
	"github.com/ssaplan/primitives/ssaplan/internal/wiretest"
	"github.com/ssaplan/primitives/ssaplan/server"
)

// bare is a server of a caller that can do nothing beside what it has to. It answers all requests with one answer.
type bare struct {
	answer server.Response
	err    error
	kind   server.Kind
	refs   []server.Ref
}

func (b *bare) Resolve(_ context.Context, kind schema.GroupVersionKind) (server.Kind, error) {
	return b.kind, b.err
}

func (b *bare) respond(of server.Ref) (server.Response, error) {
	b.refs = append(b.refs, of)
	return b.answer, b.err
}

func (b *bare) Get(_ context.Context, of server.Ref) (server.Response, error) { return b.respond(of) }

func (b *bare) Patch(_ context.Context, of server.Ref, _ types.PatchType, _ []byte, _ metav1.PatchOptions) (server.Response, error) {
	return b.respond(of)
}

func (b *bare) Create(_ context.Context, of server.Ref, _ *unstructured.Unstructured, _ metav1.CreateOptions) (server.Response, error) {
	return b.respond(of)
}

func (b *bare) Update(_ context.Context, of server.Ref, _ *unstructured.Unstructured, _ metav1.UpdateOptions) (server.Response, error) {
	return b.respond(of)
}

func (b *bare) Delete(_ context.Context, of server.Ref, _ metav1.DeleteOptions) (server.Response, error) {
	return b.respond(of)
}

// able is a server of a caller that can do more.
type able struct {
	bare
	version string
	schemas map[schema.GroupVersion]string
	text    []byte
}

func (a *able) List(_ context.Context, _ server.Kind, _ string, options metav1.ListOptions) (*metav1.PartialObjectMetadataList, error) {
	left := int64(2)
	if options.Continue != "" {
		return &metav1.PartialObjectMetadataList{}, a.err
	}
	return &metav1.PartialObjectMetadataList{
		ListMeta: metav1.ListMeta{Continue: "x", RemainingItemCount: &left},
		Items:    []metav1.PartialObjectMetadata{{ObjectMeta: metav1.ObjectMeta{Name: "a"}}},
	}, a.err
}

func (a *able) Kinds(context.Context) ([]server.Kind, []schema.GroupVersion, error) {
	return []server.Kind{a.kind}, nil, a.err
}

func (a *able) Versions(context.Context) (string, map[schema.GroupVersion]string, error) {
	return a.version, a.schemas, a.err
}

func (a *able) Schemas(context.Context, schema.GroupVersion) ([]byte, error) { return a.text, a.err }

// The requests that the server of a caller sent again count, and the warnings of its answers are collected.
func TestAnswersOfAServer(t *testing.T) {
	answer := &unstructured.Unstructured{Object: map[string]any{"kind": "ConfigMap"}}
	api := &bare{answer: server.Response{Object: answer, Warnings: []string{"w", "w"}, Requests: 3}}
	resource := New(api, Options{}).Resource(wiretest.ConfigMaps, wiretest.A)
	ctx, collected := warnings.Collect(t.Context())
	obj, err := resource.Get(ctx, "a", metav1.GetOptions{})
	require.NoError(t, err)
	assert.Same(t, answer, obj)
	assert.Equal(t, 3, resource.Requests())
	assert.Len(t, collected.All(), 1)
	assert.Equal(t, []server.Ref{{Kind: wiretest.ConfigMaps, Namespace: "n", Name: "a"}}, api.refs)

	_, err = resource.Apply(t.Context(), "a", nil, metav1.PatchOptions{}, "scale")
	require.NoError(t, err)
	assert.Equal(t, "scale", api.refs[1].Subresource)
	assert.Equal(t, 6, resource.Requests())

	api.answer.Object = nil
	_, err = resource.Get(ctx, "a", metav1.GetOptions{})
	require.ErrorIs(t, err, errNilAnswer)
	require.NoError(t, resource.Delete(ctx, "a", metav1.DeleteOptions{}))
	api.err = errors.New("no")
	_, err = resource.Get(ctx, "a", metav1.GetOptions{})
	require.ErrorIs(t, err, api.err)
}

// A server of a caller that resolves another kind than it was asked for is noticed.
func TestKindsOfAServer(t *testing.T) {
	api := &bare{kind: wiretest.ConfigMaps}
	s := New(api, Options{})
	found, err := s.Find(t.Context(), wiretest.ConfigMap)
	require.NoError(t, err)
	assert.Equal(t, wiretest.ConfigMaps, found)
	_, err = s.Find(t.Context(), schema.GroupVersionKind{Version: "v1", Kind: "Secret"})
	require.ErrorContains(t, err, "resolves /v1, Kind=ConfigMap")
	kind, err := s.Preferred(t.Context(), schema.GroupVersionKind{Kind: "ConfigMap"})
	require.NoError(t, err)
	assert.Equal(t, wiretest.ConfigMap, kind)
	api.err = &meta.NoKindMatchError{}
	_, err = s.Find(t.Context(), wiretest.ConfigMap)
	require.True(t, meta.IsNoMatchError(err))
	api.err = errors.New("no")
	_, err = s.Find(t.Context(), wiretest.ConfigMap)
	require.ErrorIs(t, err, api.err)
}

// What a server of a caller can't do is never asked of it, and what it can is.
func TestWhatAServerCanDo(t *testing.T) {
	poor := New(&bare{kind: wiretest.ConfigMaps}, Options{})
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
	configured, err := resource.Configuration(t.Context(), 0)
	require.NoError(t, err)
	assert.Equal(t, []string{
		"mutatingwebhookconfigurations", "validatingwebhookconfigurations", "validatingadmissionpolicies",
		"validatingadmissionpolicybindings", "mutatingadmissionpolicies", "mutatingadmissionpolicybindings", "the server's version",
	}, configured.Unseen)

	api := &able{bare: bare{kind: wiretest.ConfigMaps}, version: "1", schemas: map[schema.GroupVersion]string{wiretest.ConfigMap.GroupVersion(): "a"}, text: []byte("{}")}
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
	api.text = nil
	_, err = s.Schemas(t.Context(), wiretest.ConfigMap.GroupVersion())
	require.ErrorIs(t, err, ErrNoSchema)
}

// A change of the version or of the schemas is seen. What may not be read is unseen.
func TestVersionsOfAServer(t *testing.T) {
	gv := wiretest.ConfigMap.GroupVersion()
	api := &able{bare: bare{kind: wiretest.ConfigMaps}, version: "1", schemas: map[schema.GroupVersion]string{gv: "a"}}
	s := New(api, Options{})
	look := func() Configuration {
		c, err := s.Resource(wiretest.ConfigMaps, wiretest.A).Configuration(t.Context(), 0)
		require.NoError(t, err)
		return c
	}
	before := look()
	assert.Empty(t, before.Unseen)
	assert.Equal(t, before.Fingerprint, look().Fingerprint)
	api.schemas[gv] = "b"
	schemas := look()
	assert.Equal(t, before.Fingerprint[1], schemas.Fingerprint[1])
	assert.NotEqual(t, before.Fingerprint[2], schemas.Fingerprint[2])
	api.version = "2"
	assert.NotEqual(t, before.Fingerprint[1], look().Fingerprint[1])
	api.version, api.schemas = "", nil
	assert.Equal(t, []string{"the server's version", "the schemas of v1"}, look().Unseen)
}
