package dynclient_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/ssaplan/primitives/ssaplan/dynclient"
	"github.com/ssaplan/primitives/ssaplan/server"
)

var (
	gv      = schema.GroupVersion{Group: "example.com", Version: "v1"}
	widgets = server.Kind{GroupVersionKind: gv.WithKind("Widget"), Resource: "widgets", Namespaced: true}
)

// documents are what the server answers, by path.
var documents = map[string]string{
	"/api": `{"kind":"APIGroupDiscoveryList"}`,
	"/apis": `{"kind":"APIGroupDiscoveryList","items":[{"metadata":{"name":"example.com"},"versions":[{"version":"v1","resources":[` +
		`{"resource":"widgets","scope":"Namespaced","responseKind":{"group":"example.com","version":"v1","kind":"Widget"},"verbs":["list","delete"]}]}]}]}`,
	"/version":                        `{"gitVersion":"v1.2.3"}`,
	"/openapi/v3":                     `{"paths":{"apis/example.com/v1":{"serverRelativeURL":"/openapi/v3/apis/example.com/v1?hash=A"},"version":{}}}`,
	"/openapi/v3/apis/example.com/v1": `{"components":{}}`,
	"/apis/example.com/v1/namespaces/n/widgets/a": `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"a"}}`,
	"/apis/example.com/v1/namespaces/n/widgets": `{"apiVersion":"example.com/v1","kind":"WidgetList","metadata":{"continue":"x"},` +
		`"items":[{"metadata":{"name":"a"},"spec":{"size":1}}]}`,
}

// resettable counts the resets of a mapper.
type resettable struct {
	meta.RESTMapper
	resets int
}

func (r *resettable) Reset() { r.resets++ }

func connect(t *testing.T, discovering bool) (server.Server, *resettable) {
	t.Helper()
	served := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, ok := documents[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Warning", `299 - "mind the gap"`)
		_, _ = fmt.Fprint(w, text)
	}))
	t.Cleanup(served.Close)
	config := &rest.Config{Host: served.URL, WarningHandlerWithContext: server.WarningHandler{}}
	client, err := dynamic.NewForConfig(config)
	require.NoError(t, err)
	mapper := meta.NewDefaultRESTMapper([]schema.GroupVersion{gv})
	mapper.Add(widgets.GroupVersionKind, meta.RESTScopeNamespace)
	known := &resettable{RESTMapper: mapper}
	var options dynclient.Options
	if discovering {
		options.Discovery, err = discovery.NewDiscoveryClientForConfig(config)
		require.NoError(t, err)
	}
	return dynclient.New(client, known, options), known
}

func TestObjects(t *testing.T) {
	api, mapper := connect(t, false)
	kind, err := api.Resolve(t.Context(), widgets.GroupVersionKind)
	require.NoError(t, err)
	require.Equal(t, widgets, kind)
	of := server.Ref{Kind: kind, Namespace: "n", Name: "a"}
	answer, err := api.Get(t.Context(), of)
	require.NoError(t, err)
	assert.Equal(t, "a", answer.Object.GetName())
	assert.Equal(t, []string{"mind the gap"}, answer.Warnings)
	answer, err = api.Patch(t.Context(), of, types.JSONPatchType, []byte("[]"), metav1.PatchOptions{})
	require.NoError(t, err)
	assert.Equal(t, "a", answer.Object.GetName())
	page, err := api.(server.Lister).List(t.Context(), kind, "n", metav1.ListOptions{Limit: 1})
	require.NoError(t, err)
	assert.Equal(t, "x", page.Continue)
	assert.Equal(t, "Widget", page.Items[0].Kind)
	assert.Zero(t, mapper.resets)

	of.Name = "b"
	answer, err = api.Get(t.Context(), of)
	require.ErrorAs(t, err, new(apierrors.APIStatus))
	assert.Nil(t, answer.Object)
	assert.Equal(t, 1, mapper.resets, "page not found")
}

// What a server can't do shows in its type.
func TestDiscovery(t *testing.T) {
	poor, _ := connect(t, false)
	_, discovers := poor.(server.Discoverer)
	_, versions := poor.(server.Versioner)
	_, reads := poor.(server.SchemaReader)
	assert.False(t, discovers || versions || reads)

	api, _ := connect(t, true)
	kinds, unanswered, err := api.(server.Discoverer).Kinds(t.Context())
	require.NoError(t, err)
	assert.Equal(t, []server.Kind{widgets}, kinds)
	assert.Empty(t, unanswered)
	version, schemas, err := api.(server.Versioner).Versions(t.Context())
	require.NoError(t, err)
	assert.NotEmpty(t, version)
	assert.NotEmpty(t, schemas[gv])
	assert.Len(t, schemas, 1)
	text, err := api.(server.SchemaReader).Schemas(t.Context(), gv)
	require.NoError(t, err)
	assert.JSONEq(t, documents["/openapi/v3/apis/example.com/v1"], string(text))
	text, err = api.(server.SchemaReader).Schemas(t.Context(), schema.GroupVersion{Group: "other.example.com", Version: "v1"})
	require.NoError(t, err)
	assert.Nil(t, text)
	_, lists := api.(server.ObjectLister)
	assert.True(t, lists)
}
