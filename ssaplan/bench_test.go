package ssaplan_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/ssaplan/primitives/ssaplan"
)

// BenchmarkPlan shows what planning costs beyond the network, and beside it what the dynamic client of client-go alone
// costs for the same answers, which a real server gave. With -cpu 1 that includes all of the garbage collector's work.
func BenchmarkPlan(b *testing.B) {
	for _, kind := range []string{"deployment", "gadget"} {
		for _, c := range []struct{ name, manifest, dryRun string }{
			{"unchanged", "manifest.json", "live.json"},
			{"changed", "edited.json", "dryrun.json"},
		} {
			manifest := &unstructured.Unstructured{}
			require.NoError(b, manifest.UnmarshalJSON(read(b, kind, c.manifest)))
			config := &rest.Config{Host: "http://recorded", QPS: -1, Transport: recorded{read(b, kind, "live.json"), read(b, kind, c.dryRun)}}
			b.Run(kind+"/"+c.name+"/planner", func(b *testing.B) { benchmarkPlanner(b, config, manifest) })
			b.Run(kind+"/"+c.name+"/floor", func(b *testing.B) { benchmarkFloor(b, config, manifest) })
		}
	}
}

// BenchmarkCached shows what planning costs when the cache knows that nothing changes.
func BenchmarkCached(b *testing.B) {
	const kind = "deployment"
	manifest, live := &unstructured.Unstructured{}, &unstructured.Unstructured{}
	require.NoError(b, manifest.UnmarshalJSON(read(b, kind, "manifest.json")))
	require.NoError(b, live.UnmarshalJSON(read(b, kind, "live.json")))
	config := &rest.Config{Host: "http://recorded", QPS: -1, Transport: configure(recorded{read(b, kind, "live.json"), read(b, kind, "live.json")})}
	planner, err := ssaplan.New(config, ssaplan.Options{FieldManager: "bench", NoOps: ssaplan.NewNoOpCache(ssaplan.NoOpCacheOptions{Size: 10})})
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
	kind := manifest.GroupVersionKind()
	resource := client.Resource(kind.GroupVersion().WithResource(strings.ToLower(kind.Kind) + "s")).Namespace("bench")
	options := metav1.ApplyOptions{DryRun: []string{metav1.DryRunAll}, FieldManager: "bench", Force: true}
	b.ReportAllocs()
	for b.Loop() {
		_, err := resource.Get(b.Context(), manifest.GetName(), metav1.GetOptions{})
		require.NoError(b, err)
		_, err = resource.Apply(b.Context(), manifest.GetName(), manifest, options)
		require.NoError(b, err)
	}
}

// discovered are the resources of each group and version.
var discovered = map[string]string{
	"apps/v1":              `{"name":"deployments","kind":"Deployment","namespaced":true}`,
	"bench.example.com/v1": `{"name":"gadgets","kind":"Gadget","namespaced":true}`,
}

// recorded is a transport that gives the answers of a server to the two requests of a plan, and to discovery.
type recorded struct{ live, dryRun []byte }

func (r recorded) RoundTrip(request *http.Request) (*http.Response, error) {
	body := r.live
	switch groupVersion := strings.TrimPrefix(request.URL.Path, "/apis/"); {
	case discovered[groupVersion] != "":
		body = fmt.Appendf(nil, `{"kind":"APIResourceList","apiVersion":"v1","groupVersion":%q,"resources":[%s]}`, groupVersion, discovered[groupVersion])
	case request.Method == http.MethodPatch:
		body = r.dryRun
	}
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Request: request,
		Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)),
	}, nil
}

func read(tb testing.TB, kind, name string) []byte {
	text, err := os.ReadFile("testdata/bench/" + kind + "/" + name)
	require.NoError(tb, err)
	return text
}
