package ssaplan_test

import (
	"bytes"
	"io"
	"net/http"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/ssaplan/primitives/ssaplan"
)

// BenchmarkPlan shows what planning costs beyond the network, and beside it what the dynamic client of client-go alone
// costs for the same answers, which a real server gave.
func BenchmarkPlan(b *testing.B) {
	for _, c := range []struct{ name, manifest, dryRun string }{
		{"unchanged", "manifest.json", "live.json"},
		{"changed", "edited.json", "dryrun.json"},
	} {
		manifest := &unstructured.Unstructured{}
		require.NoError(b, manifest.UnmarshalJSON(read(b, c.manifest)))
		config := &rest.Config{Host: "http://recorded", QPS: -1, Transport: recorded{read(b, "live.json"), read(b, c.dryRun)}}
		b.Run(c.name+"/planner", func(b *testing.B) { benchmarkPlanner(b, config, manifest) })
		b.Run(c.name+"/floor", func(b *testing.B) { benchmarkFloor(b, config, manifest) })
	}
}

// BenchmarkCached shows what planning costs when the cache knows that nothing changes.
func BenchmarkCached(b *testing.B) {
	manifest, live := &unstructured.Unstructured{}, &unstructured.Unstructured{}
	require.NoError(b, manifest.UnmarshalJSON(read(b, "manifest.json")))
	require.NoError(b, live.UnmarshalJSON(read(b, "live.json")))
	config := &rest.Config{Host: "http://recorded", QPS: -1, Transport: recorded{read(b, "live.json"), read(b, "live.json")}}
	planner, err := ssaplan.New(config, ssaplan.Options{FieldManager: "bench", NoOps: ssaplan.NewNoOpCache(10)})
	require.NoError(b, err)
	b.ReportAllocs()
	for b.Loop() {
		_, err := planner.Plan(b.Context(), ssaplan.Request{Manifest: manifest, Live: live})
		require.NoError(b, err)
	}
}

func benchmarkPlanner(b *testing.B, config *rest.Config, manifest *unstructured.Unstructured) {
	planner, err := ssaplan.New(config, ssaplan.Options{FieldManager: "bench"})
	require.NoError(b, err)
	b.ReportAllocs()
	for b.Loop() {
		_, err := planner.Plan(b.Context(), ssaplan.Request{Manifest: manifest})
		require.NoError(b, err)
	}
}

func benchmarkFloor(b *testing.B, config *rest.Config, manifest *unstructured.Unstructured) {
	client, err := dynamic.NewForConfig(config)
	require.NoError(b, err)
	deployments := client.Resource(schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}).Namespace("bench")
	options := metav1.ApplyOptions{DryRun: []string{metav1.DryRunAll}, FieldManager: "bench", Force: true}
	b.ReportAllocs()
	for b.Loop() {
		_, err := deployments.Get(b.Context(), manifest.GetName(), metav1.GetOptions{})
		require.NoError(b, err)
		_, err = deployments.Apply(b.Context(), manifest.GetName(), manifest, options)
		require.NoError(b, err)
	}
}

// recorded is a transport that gives the answers of a server to the two requests of a plan, and to discovery.
type recorded struct{ live, dryRun []byte }

func (r recorded) RoundTrip(request *http.Request) (*http.Response, error) {
	body := r.live
	switch {
	case request.URL.Path == "/apis/apps/v1":
		body = []byte(`{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"apps/v1","resources":[{"name":"deployments","kind":"Deployment","namespaced":true}]}`)
	case request.Method == http.MethodPatch:
		body = r.dryRun
	}
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Request: request,
		Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)),
	}, nil
}

func read(tb testing.TB, name string) []byte {
	text, err := os.ReadFile("testdata/bench/" + name)
	require.NoError(tb, err)
	return text
}
