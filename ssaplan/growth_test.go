package ssaplan_test

import (
	"bytes"
	"fmt"
	"io"
	"iter"
	"maps"
	"net/http"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"

	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/set"
)

// numbered is a transport that has a Deployment for each number below n, and finds all applies to change nothing.
type numbered struct {
	recorded
	n int
}

func (s numbered) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := s.recorded.RoundTrip(request)
	name := request.URL.Path[strings.LastIndex(request.URL.Path, "/")+1:]
	switch {
	case err != nil || response.StatusCode != http.StatusOK || !strings.Contains(request.URL.Path, "/deployments"):
		return response, err
	case name == "deployments":
		response.Body = s.page(request)
	default:
		response.Body = io.NopCloser(bytes.NewReader(s.object(name)))
	}
	response.ContentLength = -1
	return response, nil
}

// object returns the recorded object under another name.
func (s numbered) object(name string) []byte {
	return bytes.Replace(s.live, []byte(`"name":"web-00001"`), []byte(`"name":"`+name+`"`), 1)
}

func (s numbered) page(request *http.Request) io.ReadCloser {
	limit, _ := strconv.Atoi(request.URL.Query().Get("limit"))
	first, _ := strconv.Atoi(request.URL.Query().Get("continue"))
	last, next := min(first+limit, s.n), ""
	if last < s.n {
		next = strconv.Itoa(last)
	}
	var body bytes.Buffer
	fmt.Fprintf(&body, `{"kind":"DeploymentList","apiVersion":"apps/v1","metadata":{"continue":%q},"items":[`, next)
	for i := first; i < last; i++ {
		if i > first {
			body.WriteByte(',')
		}
		body.Write(bytes.TrimSpace(s.object(numberedName(i))))
	}
	body.WriteString("]}")
	return io.NopCloser(&body)
}

func numberedName(i int) string { return fmt.Sprintf("web-%06d", i) }

// planAll is a way of planning many objects.
type planAll func(*ssaplan.Planner, []ssaplan.Request) iter.Seq2[*ssaplan.Plan, error]

// plannedAll plans n objects, and returns the time that each took and by how much what lives on the heap grew at most.
func plannedAll(t *testing.T, n int, all planAll) (each time.Duration, grown uint64) {
	live := read(t, "deployment", "live.json")
	planner := connect(t, &rest.Config{Host: "http://recorded", Transport: numbered{recorded{live, live}, n}}, ssaplan.Options{FieldManager: "bench"})
	manifest := object(t, "deployment", "manifest.json")
	requests := make([]ssaplan.Request, n)
	for i := range requests {
		metadata := maps.Clone(manifest.Object["metadata"].(map[string]any))
		metadata["name"] = numberedName(i)
		content := maps.Clone(manifest.Object)
		content["metadata"] = metadata
		requests[i].Manifest = &unstructured.Unstructured{Object: content}
	}
	before, planned, took := liveHeap(), 0, 0
	start := time.Now()
	for plan, err := range all(planner, requests) {
		require.NoError(t, err)
		require.Equal(t, ssaplan.ActionNoOp, plan.Action)
		took += plan.Requests
		if planned++; planned%(n/10) == 0 {
			grown = max(grown, max(liveHeap(), before)-before)
		}
	}
	require.Equal(t, n, planned)
	require.Equal(t, n, took, "a dry run each")
	return time.Since(start) / time.Duration(n), grown
}

// liveHeap returns how much lives on the heap.
func liveHeap() uint64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}

// Planning many objects, also as a set, takes as long for each as planning few, and holds no more of them at a time.
// Of 1000 objects the bound notices 10 KB that each leaves behind; make bench-growth plans 100,000.
func TestPlanningGrowsWithItsInputsOnly(t *testing.T) {
	many := 600
	if given := os.Getenv("GROWTH"); given != "" { // see make bench-growth
		var err error
		many, err = strconv.Atoi(given)
		require.NoError(t, err)
	}
	for name, all := range map[string]planAll{
		"PlanAll": func(planner *ssaplan.Planner, requests []ssaplan.Request) iter.Seq2[*ssaplan.Plan, error] {
			return planner.PlanAll(t.Context(), requests)
		},
		"a set": func(planner *ssaplan.Planner, requests []ssaplan.Request) iter.Seq2[*ssaplan.Plan, error] {
			return func(yield func(*ssaplan.Plan, error) bool) {
				of := set.New(planner, requests, set.Options{})
				for item := range of.Plan(t.Context()) {
					if !yield(item.Plan, item.Err) {
						return
					}
				}
			}
		},
	} {
		few, _ := plannedAll(t, many/10, all)
		each, grown := plannedAll(t, many, all)
		fmt.Printf("figure: %s of %d Deployments in memory: %v each, %v each of %d; %d MB live on the heap above the inputs\n",
			name, many, each.Round(time.Microsecond), few.Round(time.Microsecond), many/10, grown>>20)
		require.Less(t, grown, uint64(16<<20+480*many), "%s: 64 MB for 100,000", name)
	}
}
