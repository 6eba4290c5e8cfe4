package ssaplan_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/ssaplan/primitives/ssaplan"
)

// plannings are what is planned here, and how much of what the dynamic client of client-go allocates for the same two
// answers a plan may allocate. A real server gave them.
var plannings = []struct {
	kind, name, manifest, dryRun string
	share                        float64
}{
	{"deployment", "unchanged", "manifest.json", "live.json", 0.40},
	{"deployment", "changed", "edited.json", "dryrun.json", 0.55},
	{"gadget", "unchanged", "manifest.json", "live.json", 0.67},
	{"gadget", "changed", "edited.json", "dryrun.json", 0.86},
}

// eachPlanning calls do with functions that make a plan, and that have the client alone do what that takes.
func eachPlanning(tb testing.TB, do func(name string, share float64, planner, floor func())) {
	for _, p := range plannings {
		manifest := object(tb, p.kind, p.manifest)
		config := &rest.Config{Host: "http://recorded", QPS: -1, Transport: recorded{read(tb, p.kind, "live.json"), read(tb, p.kind, p.dryRun)}}
		do(p.kind+"/"+p.name, p.share, planOf(tb, config, manifest), floorOf(tb, config, manifest))
	}
}

// BenchmarkPlan shows what planning costs beyond the network, and beside it what the dynamic client alone costs. With
// -cpu 1 that includes all of the garbage collector's work.
func BenchmarkPlan(b *testing.B) {
	run := func(name string, do func()) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				do()
			}
		})
	}
	eachPlanning(b, func(name string, _ float64, planner, floor func()) {
		run(name+"/planner", planner)
		run(name+"/floor", floor)
	})
}

// What a plan allocates is most of what it costs, and the same on every machine.
func TestPlanAllocatesLittle(t *testing.T) {
	eachPlanning(t, func(name string, share float64, planner, floor func()) {
		assert.LessOrEqual(t, testing.AllocsPerRun(20, planner)/testing.AllocsPerRun(20, floor), share, name)
	})
}

// BenchmarkCached shows what planning costs when the cache knows that nothing changes.
func BenchmarkCached(b *testing.B) {
	const kind = "deployment"
	manifest, live, text := object(b, kind, "manifest.json"), object(b, kind, "live.json"), read(b, kind, "live.json")
	config := &rest.Config{Host: "http://recorded", QPS: -1, Transport: configure(recorded{text, text})}
	planner := connect(b, config, ssaplan.Options{FieldManager: "bench", NoOps: ssaplan.NewNoOpCache(ssaplan.NoOpCacheOptions{Size: 10})})
	b.ReportAllocs()
	for b.Loop() {
		_, err := planner.Plan(b.Context(), ssaplan.Request{Manifest: manifest, Live: live})
		require.NoError(b, err)
	}
}

func planOf(tb testing.TB, config *rest.Config, manifest *unstructured.Unstructured) func() {
	planner := connect(tb, config, ssaplan.Options{FieldManager: "bench"})
	return func() {
		_, err := planner.Plan(tb.Context(), ssaplan.Request{Manifest: manifest})
		require.NoError(tb, err)
	}
}

func floorOf(tb testing.TB, config *rest.Config, manifest *unstructured.Unstructured) func() {
	client, err := dynamic.NewForConfig(config)
	require.NoError(tb, err)
	kind := manifest.GroupVersionKind()
	resource := client.Resource(kind.GroupVersion().WithResource(strings.ToLower(kind.Kind) + "s")).Namespace("bench")
	options := metav1.ApplyOptions{DryRun: []string{metav1.DryRunAll}, FieldManager: "bench", Force: true}
	return func() {
		_, err := resource.Get(tb.Context(), manifest.GetName(), metav1.GetOptions{})
		require.NoError(tb, err)
		_, err = resource.Apply(tb.Context(), manifest.GetName(), manifest, options)
		require.NoError(tb, err)
	}
}

// discovered are the resources of each group and version.
var discovered = map[string]string{
	"apps/v1":              `{"name":"deployments","kind":"Deployment","namespaced":true}`,
	"bench.example.com/v1": `{"name":"gadgets","kind":"Gadget","namespaced":true}`,
}

// unknownDryRun is what a server says of a dryRun that it doesn't know.
const unknownDryRun = `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Invalid","code":422,"details":` +
	`{"group":"meta.k8s.io","kind":"PatchOptions","causes":[{"field":"dryRun"}]}}`

// recorded is a transport that gives the answers of a server to the two requests of a plan, to discovery, to the
// question whether it gets dryRun, and to a read of a definition.
type recorded struct{ live, dryRun []byte }

func (r recorded) RoundTrip(request *http.Request) (*http.Response, error) {
	body, code := r.live, http.StatusOK
	switch groupVersion := strings.TrimPrefix(request.URL.Path, "/apis/"); {
	case slices.Contains(request.URL.Query()["dryRun"], "Unknown"):
		body, code = []byte(unknownDryRun), http.StatusUnprocessableEntity
	case discovered[groupVersion] != "":
		body = fmt.Appendf(nil, `{"kind":"APIResourceList","apiVersion":"v1","groupVersion":%q,"resources":[%s]}`, groupVersion, discovered[groupVersion])
	case strings.HasSuffix(request.URL.Path, "/customresourcedefinitions/gadgets.bench.example.com"):
		body = []byte(`{"kind":"CustomResourceDefinition","apiVersion":"apiextensions.k8s.io/v1","metadata":{"name":"gadgets.bench.example.com"},` +
			`"spec":{"versions":[{"name":"v1","schema":{"openAPIV3Schema":{"type":"object"}}}]}}`)
	case request.Method == http.MethodPatch:
		body = r.dryRun
	}
	return &http.Response{
		StatusCode: code, Header: http.Header{"Content-Type": {"application/json"}}, Request: request,
		Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)),
	}, nil
}

func read(tb testing.TB, kind, name string) []byte {
	text, err := os.ReadFile("testdata/bench/" + kind + "/" + name)
	require.NoError(tb, err)
	return text
}

func object(tb testing.TB, kind, name string) *unstructured.Unstructured {
	obj := &unstructured.Unstructured{}
	require.NoError(tb, obj.UnmarshalJSON(read(tb, kind, name)))
	return obj
}
