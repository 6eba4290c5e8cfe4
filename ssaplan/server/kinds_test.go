package server_test

import (
	"context"
	"errors"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/ssaplan/primitives/ssaplan/server"
)

// Without a group, a mapper is asked for the resource that a kind has by convention.
func TestMappedPrefersAKind(t *testing.T) {
	batch, ours := schema.GroupVersion{Group: "batch", Version: "v1"}, schema.GroupVersion{Group: "a.example.com", Version: "v2"}
	mapper := meta.NewDefaultRESTMapper([]schema.GroupVersion{batch, ours})
	mapper.Add(batch.WithKind("Job"), meta.RESTScopeNamespace)
	mapper.Add(ours.WithKind("Job"), meta.RESTScopeNamespace)
	mapper.AddSpecific(ours.WithKind("Gadget"), ours.WithResource("widgets"), ours.WithResource("widget"), meta.RESTScopeRoot)
	mapped := server.Mapped{Mapper: mapper}
	for kind, want := range map[schema.GroupKind]string{
		{Kind: "Job"}:                           "batch/v1, Kind=Job",
		{Group: "a.example.com", Kind: "Job"}:   "a.example.com/v2, Kind=Job",
		{Kind: "Widget"}:                        "",
		{Kind: "Other"}:                         "",
		{Group: "a.example.com", Kind: "Other"}: "",
	} {
		found, err := mapped.Resolve(t.Context(), kind.WithVersion(""))
		if want == "" {
			assert.True(t, meta.IsNoMatchError(err), "%s: %v", kind, err)
			continue
		}
		require.NoError(t, err)
		assert.Equal(t, want, found.GroupVersionKind.String())
	}
}

// resettable is a mapper that knows other kinds after a reset.
type resettable struct {
	meta.RESTMapper
	next   meta.RESTMapper
	resets int
}

func (r *resettable) Reset() {
	r.resets++
	r.RESTMapper = r.next
}

// A kind that was installed later is found, and one that is no longer served is looked up again. A version that a
// mapper answers with in place of another one isn't that one.
func TestMappedLooksAgain(t *testing.T) {
	gv := schema.GroupVersion{Group: "example.com", Version: "v1"}
	full := meta.NewDefaultRESTMapper([]schema.GroupVersion{gv})
	full.Add(gv.WithKind("Widget"), meta.RESTScopeNamespace)
	mapper := &resettable{RESTMapper: meta.NewDefaultRESTMapper(nil), next: full}
	mapped := server.Mapped{Mapper: mapper}
	found, err := mapped.Resolve(t.Context(), gv.WithKind("Widget"))
	require.NoError(t, err)
	assert.Equal(t, server.Kind{GroupVersionKind: gv.WithKind("Widget"), Resource: "widgets", Namespaced: true}, found)
	assert.Equal(t, gv.WithResource("widgets"), found.GroupVersionResource())
	assert.Equal(t, 1, mapper.resets)
	_, err = mapped.Resolve(t.Context(), schema.GroupVersionKind{Group: "example.com", Version: "v2", Kind: "Widget"})
	assert.True(t, meta.IsNoMatchError(err), err)
	assert.Equal(t, 2, mapper.resets)

	gone := apierrors.NewGenericServerResponse(http.StatusNotFound, "get", schema.GroupResource{}, "", "404 page not found", 0, true)
	for _, err := range []error{nil, errors.New("x"), apierrors.NewNotFound(schema.GroupResource{}, "a")} {
		assert.Equal(t, err, mapped.Answered(err))
	}
	assert.Equal(t, 2, mapper.resets)
	assert.Equal(t, error(gone), mapped.Answered(gone))
	assert.Equal(t, 3, mapper.resets)
}

func TestListMetadata(t *testing.T) {
	left := int64(4)
	list := &unstructured.UnstructuredList{Object: map[string]any{"kind": "WidgetList"}, Items: []unstructured.Unstructured{{Object: map[string]any{
		"apiVersion": "example.com/v1", "kind": "Widget", "spec": map[string]any{"size": int64(1)},
		"metadata": map[string]any{"name": "a", "uid": "1"},
	}}}}
	list.SetContinue("x")
	list.SetRemainingItemCount(&left)
	page, err := server.ListMetadata(t.Context(), listed{list}, server.Kind{}, "", metav1.ListOptions{})
	require.NoError(t, err)
	assert.Equal(t, "x", page.Continue)
	assert.Equal(t, &left, page.RemainingItemCount)
	assert.Equal(t, []metav1.PartialObjectMetadata{{
		TypeMeta: metav1.TypeMeta{APIVersion: "example.com/v1", Kind: "Widget"}, ObjectMeta: metav1.ObjectMeta{Name: "a", UID: "1"},
	}}, page.Items)

	list.Object["kind"] = "Widget"
	_, err = server.ListMetadata(t.Context(), listed{list}, server.Kind{}, "", metav1.ListOptions{})
	assert.EqualError(t, err, "the answer is no list: check the server's address")
	list.Object["kind"], list.Items[0].Object["metadata"] = "WidgetList", "x"
	_, err = server.ListMetadata(t.Context(), listed{list}, server.Kind{}, "", metav1.ListOptions{})
	assert.ErrorContains(t, err, "metadata: ")
}

// listed answers each list with the same page.
type listed struct {
	page *unstructured.UnstructuredList
}

func (l listed) ListObjects(context.Context, server.Kind, string, metav1.ListOptions) (*unstructured.UnstructuredList, error) {
	return l.page, nil
}
