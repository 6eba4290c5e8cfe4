package ssaplan_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/explain"
)

// warning is a transport that answers like recorded, and warns.
type warning struct{ recorded }

func (w warning) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := w.recorded.RoundTrip(request)
	response.Header = response.Header.Clone()
	response.Header.Set("Warning", `299 - "mind the gap"`)
	return response, err
}

// heard notes the warnings of client-go.
type heard struct{ texts *[]string }

func (h heard) HandleWarningHeader(_ int, _, text string) { *h.texts = append(*h.texts, text) }

// The warnings that a server gives while it is asked are those of the plan, also of a plan that was remembered. All
// others go to the host's handler.
func TestWarningsGoToThePlanOrToTheHost(t *testing.T) {
	live := read(t, "deployment", "live.json")
	var texts []string
	config := &rest.Config{Host: "http://recorded", Transport: configure(warning{recorded{live, live}}), WarningHandler: heard{&texts}}
	planner := connect(t, config, ssaplan.Options{FieldManager: "bench", NoOps: ssaplan.NewNoOpCache(ssaplan.NoOpCacheOptions{Size: 10})})
	manifest := object(t, "manifest.json")
	manifest.Object["status"] = map[string]any{"replicas": int64(5)}
	var plans []*ssaplan.Plan
	for range 2 {
		plan := mustPlan(t, planner, ssaplan.Request{Manifest: manifest})
		require.Equal(t, ssaplan.ActionNoOp, plan.Action, plan.Reason)
		require.Contains(t, fmt.Sprintln(plan.Warnings), "mind the gap")
		require.Contains(t, fmt.Sprintln(plan.Warnings), "status: ")
		plans = append(plans, plan)
	}
	require.ElementsMatch(t, plans[0].Warnings, plans[1].Warnings, "a remembered plan says what it said")
	require.Equal(t, 1, plans[1].Requests)
	require.Empty(t, texts)

	state, err := explain.NewState(nil, object(t, "live.json").Object, fieldowner.Applier{Manager: "bench"}, nil)
	require.NoError(t, err)
	mustRead(t, planner, state)
	require.Equal(t, []string{"mind the gap"}, texts)
}

func object(t *testing.T, file string) *unstructured.Unstructured {
	obj := &unstructured.Unstructured{}
	require.NoError(t, obj.UnmarshalJSON(read(t, "deployment", file)))
	return obj
}
