package ssaplan_test

import (
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"

	"github.com/ssaplan/primitives/ssaplan"
)

// counted is a transport that counts what is sent through it, by method and path.
type counted struct {
	http.RoundTripper
	mu   *sync.Mutex
	sent map[string]int
}

func (c counted) RoundTrip(request *http.Request) (*http.Response, error) {
	c.mu.Lock()
	c.sent[request.Method+" "+request.URL.Path]++
	c.mu.Unlock()
	return c.RoundTripper.RoundTrip(request)
}

// manyKinds is a transport to a server with many definitions in one version of a group, and no object of them.
type manyKinds struct{ kinds int }

func (m manyKinds) RoundTrip(request *http.Request) (*http.Response, error) {
	code, body := http.StatusNotFound, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404,"message":"not found",`+
		`"details":{"name":"a","group":"many.example.com","kind":"kinds"}}`
	switch {
	case request.URL.Path == "/apis/many.example.com/v1":
		var resources []string
		for i := range m.kinds {
			resources = append(resources, fmt.Sprintf(`{"name":"kind%ds","kind":"Kind%d","namespaced":true}`, i, i))
		}
		code, body = http.StatusOK, `{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"many.example.com/v1","resources":[`+strings.Join(resources, ",")+`]}`
	case request.URL.Path == "/openapi/v3/apis/many.example.com/v1":
		var schemas []string
		for i := range m.kinds {
			schemas = append(schemas, fmt.Sprintf(`"Kind%d":{"properties":{"key":{"format":"password"}},"x-kubernetes-group-version-kind":`+
				`[{"group":"many.example.com","version":"v1","kind":"Kind%d"}]}`, i, i))
		}
		code, body = http.StatusOK, `{"components":{"schemas":{`+strings.Join(schemas, ",")+`}}}`
	case request.URL.Query().Get("dryRun") == "Unknown" || len(request.URL.Query()["dryRun"]) > 1:
		code, body = http.StatusUnprocessableEntity, unknownDryRun
	case request.Method == http.MethodPatch:
		var number int
		_, err := fmt.Sscanf(request.URL.Path, "/apis/many.example.com/v1/namespaces/bench/kind%ds/a", &number)
		if err != nil {
			return nil, err
		}
		code, body = http.StatusCreated, fmt.Sprintf(`{"apiVersion":"many.example.com/v1","kind":"Kind%d","metadata":{"name":"a","namespace":"bench","uid":"u",`+
			`"creationTimestamp":"2026-08-01T12:00:00Z","managedFields":[{"manager":"bench","operation":"Apply","apiVersion":"many.example.com/v1",`+
			`"time":"2026-08-01T12:00:00Z","fieldsType":"FieldsV1","fieldsV1":{"f:size":{}}}]},"size":1}`, number)
	}
	return &http.Response{StatusCode: code, Header: http.Header{"Content-Type": {"application/json"}}, Request: request,
		Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body))}, nil
}

// TestManyDefinitions plans an object of each of 500 kinds side by side. What the server serves is asked once, and
// which fields are passwords twice: the definition of one kind, and a document about all.
func TestManyDefinitions(t *testing.T) {
	const kinds = 500
	server := counted{manyKinds{kinds}, &sync.Mutex{}, map[string]int{}}
	planner := connect(t, &rest.Config{Host: "http://many", Transport: server}, ssaplan.Options{FieldManager: "bench", Concurrency: 8})
	var requests []ssaplan.Request
	for i := range kinds {
		requests = append(requests, ssaplan.Request{Manifest: &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "many.example.com/v1", "kind": fmt.Sprint("Kind", i), "metadata": map[string]any{"namespace": "bench", "name": "a"}, "size": int64(1),
		}}})
	}
	for plan, err := range planner.PlanAll(t.Context(), requests) {
		require.NoError(t, err)
		require.Equal(t, ssaplan.ActionCreate, plan.Action)
		require.Equal(t, 2, plan.Requests)
		require.Empty(t, plan.Warnings, "all marks are known")
	}
	documents, all := 0, 0
	for what, n := range server.sent {
		if all += n; !strings.Contains(what, "/namespaces/") {
			documents += n
		}
	}
	fmt.Printf("figure: discovery of 500 definitions of a version of a group: %d requests\n", documents)
	require.Equal(t, 3, documents, server.sent)
	require.Equal(t, 3+1+2*kinds, all, "and one asks whether the server gets dryRun")
}

// twoKinds is a transport to a server that has an object of each kind.
type twoKinds map[string]recorded

func (s twoKinds) RoundTrip(request *http.Request) (*http.Response, error) {
	if strings.Contains(request.URL.Path, "gadget") {
		return s["gadget"].RoundTrip(request)
	}
	return s["deployment"].RoundTrip(request)
}

// TestManyClusters has planners for 50 clusters in a process, each of which has planned a Deployment and a custom
// resource.
func TestManyClusters(t *testing.T) {
	const clusters = 50
	server, manifests := twoKinds{}, []*unstructured.Unstructured(nil)
	for _, kind := range []string{"deployment", "gadget"} {
		live := read(t, kind, "live.json")
		server[kind], manifests = recorded{live, live}, append(manifests, object(t, kind, "manifest.json"))
	}
	goroutines, before := runtime.NumGoroutine(), liveHeap()
	planners := make([]*ssaplan.Planner, clusters)
	for i := range planners {
		planner := connect(t, &rest.Config{Host: fmt.Sprintf("http://cluster-%d", i), Transport: server}, ssaplan.Options{FieldManager: "bench"})
		for _, manifest := range manifests {
			plan := mustPlan(t, planner, ssaplan.Request{Manifest: manifest})
			require.Equal(t, ssaplan.ActionNoOp, plan.Action)
		}
		planners[i] = planner
	}
	each := (max(liveHeap(), before) - before) / clusters
	fmt.Printf("figure: 50 clusters in a process: %d bytes of heap for each planner, %d goroutines\n", each, runtime.NumGoroutine()-goroutines)
	require.Less(t, each, uint64(64<<10))
	require.LessOrEqual(t, runtime.NumGoroutine(), goroutines)
	runtime.KeepAlive(planners)
}
