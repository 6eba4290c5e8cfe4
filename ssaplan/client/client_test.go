package client

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/ssaplan/primitives/authresilience/restconfig"
	"github.com/ssaplan/primitives/ssaplan/internal/native"
	"github.com/ssaplan/primitives/ssaplan/server"
)

// answering answers all requests with the text for their path, and notes them.
func answering(sent *[]string, answers map[string]string) roundTrip {
	return func(request *http.Request) (*http.Response, error) {
		*sent = append(*sent, request.Method+" "+request.URL.Path)
		answer, found := answers[request.URL.Path]
		status, header := http.StatusOK, http.Header{"Content-Type": {"application/json"}, "Warning": {`299 - "old"`}}
		if !found {
			status, answer = http.StatusNotFound, "404 page not found\n"
			header.Set("Content-Type", "text/plain; charset=utf-8")
		}
		return &http.Response{StatusCode: status, Header: header, Request: request, Body: io.NopCloser(strings.NewReader(answer))}, nil
	}
}

var configMap = schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}

const (
	kinds = `{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"v1","resources":[{"name":"configmaps","kind":"ConfigMap","namespaced":true}]}`
	items = `{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"continue":"x"},"items":[{"metadata":{"name":"a","namespace":"n"},"data":{"k":"v"}}]}`
)

func TestClient(t *testing.T) {
	_, err := New(nil, Options{})
	require.EqualError(t, err, "client: no config")

	var sent []string
	answers := map[string]string{
		"/api/v1": kinds, "/api/v1/namespaces/n/configmaps": items,
		"/api/v1/namespaces/n/configmaps/b": `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"b","namespace":"n"}}`,
	}
	config := &rest.Config{Host: "http://recorded", Username: "jo", Transport: answering(&sent, answers)}
	api, err := New(config, Options{})
	require.NoError(t, err)
	require.Equal(t, restconfig.Credential(config), api.Credential())
	for range 2 {
		kind, err := api.Resolve(t.Context(), configMap)
		require.NoError(t, err)
		require.Equal(t, server.Kind{GroupVersionKind: configMap, Resource: "configmaps", Namespaced: true}, kind)
	}
	require.Equal(t, []string{"GET /api/v1"}, sent, "a served kind is remembered")
	kind := server.Kind{GroupVersionKind: configMap, Resource: "configmaps", Namespaced: true}
	list, err := api.ListObjects(t.Context(), kind, "n", metav1.ListOptions{Limit: 1})
	require.NoError(t, err)
	require.Equal(t, "x", list.GetContinue())
	require.Equal(t, configMap, list.Items[0].GroupVersionKind())
	page, err := api.List(t.Context(), kind, "n", metav1.ListOptions{Limit: 1})
	require.NoError(t, err)
	require.Equal(t, "a", page.Items[0].Name)
	answer, err := api.Get(t.Context(), server.Ref{Kind: kind, Namespace: "n", Name: "b"})
	require.NoError(t, err)
	require.Equal(t, "b", answer.Object.GetName())
	require.Equal(t, []string{"old"}, answer.Warnings)
	sent = nil
	answer, err = api.Get(t.Context(), server.Ref{Kind: kind, Namespace: "n", Name: "a"})
	require.Error(t, err)
	require.Nil(t, answer.Object)
	_, err = api.Resolve(t.Context(), configMap)
	require.NoError(t, err)
	require.Equal(t, []string{"GET /api/v1/namespaces/n/configmaps/a", "GET /api/v1"}, sent, "page not found: the kind is looked up again")
}

// A manager's client is used with its connections, and stays as it is.
func TestHTTPClient(t *testing.T) {
	var sent []string
	given := &http.Client{Transport: answering(&sent, map[string]string{"/api/v1": kinds})}
	before := *given
	api, err := New(&rest.Config{Host: "http://recorded", Transport: http.NewFileTransport(nil)}, Options{HTTPClient: given})
	require.NoError(t, err)
	ctx, exchange := native.WithExchange(t.Context())
	_, err = api.Resolve(ctx, configMap)
	require.NoError(t, err)
	require.Equal(t, []string{"GET /api/v1"}, sent)
	require.EqualValues(t, http.StatusOK, exchange.Status.Load())
	require.EqualValues(t, len(kinds), exchange.Received.Load())
	require.Equal(t, before.CheckRedirect == nil, given.CheckRedirect == nil)
	require.IsType(t, before.Transport, given.Transport)
}

// embedding has a method of its own, which a Planner must not go around.
type embedding struct{ *Client }

func (e embedding) Get(context.Context, server.Ref) (server.Response, error) {
	return server.Response{}, nil
}

func TestOnlyAClientItselfIsNative(t *testing.T) {
	api, err := New(&rest.Config{Host: "http://recorded"}, Options{})
	require.NoError(t, err)
	require.NotNil(t, native.Open(api, nil))
	require.Nil(t, native.Open(embedding{api}, nil))
}
