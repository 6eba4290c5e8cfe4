package ssaplan_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/explain"
)

// warning is a transport that adds warnings to each response.
type warning struct {
	http.RoundTripper
	texts []string
}

func (w warning) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := w.RoundTripper.RoundTrip(request)
	if err == nil {
		response.Header = response.Header.Clone()
		for _, text := range w.texts {
			response.Header.Add("Warning", fmt.Sprintf("299 - %q", text))
		}
	}
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
	transport := configure(warning{recorded{live, live}, []string{"mind the gap"}})
	config := &rest.Config{Host: "http://recorded", Transport: transport, WarningHandler: heard{&texts}}
	planner := connect(t, config, ssaplan.Options{FieldManager: "bench", NoOps: ssaplan.NewNoOpCache(ssaplan.NoOpCacheOptions{Size: 10})})
	manifest := object(t, "deployment", "manifest.json")
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

	observed := object(t, "deployment", "live.json").Object
	state, err := explain.NewState(nil, observed, fieldowner.Applier{Manager: "bench"}, nil)
	require.NoError(t, err)
	mustRead(t, planner, state)
	require.Equal(t, []string{"mind the gap"}, texts)
}
