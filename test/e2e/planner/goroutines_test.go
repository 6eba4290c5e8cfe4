package planner_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/internal/goroutines"
	"github.com/ssaplan/primitives/ssaplan"
)

// Tests that stop an iteration, run into deadlines and lose their server are among those that run before goroutines are
// looked for.
func TestMain(m *testing.M) { goroutines.Main(m) }

func TestStoppedPlanAllLeavesNoGoroutine(t *testing.T) {
	c := newCluster(t)
	var requests []ssaplan.Request
	for i := range 100 {
		requests = append(requests, ssaplan.Request{Manifest: manifest(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: stopped-%d}}", i)})
	}
	seen := false
	for range c.planner.PlanAll(t.Context(), requests) {
		seen = seen || goroutines.Running() != ""
		break
	}
	require.Empty(t, goroutines.Settled(), "none outlives the iteration but for the instant in which it ends")
	for range c.planner.PlanAll(t.Context(), requests) {
		seen = seen || goroutines.Running() != ""
	}
	require.True(t, seen, "this test must be able to see them")
}
