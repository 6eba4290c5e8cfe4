package planner_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/explain"
	"github.com/ssaplan/primitives/ssaplan/server"
	"github.com/ssaplan/primitives/test/lab"
)

func (c *cluster) plan(t *testing.T, request ssaplan.Request) *ssaplan.Plan {
	t.Helper()
	plan, err := c.planner.Plan(t.Context(), request)
	require.NoError(t, err)
	return plan
}

// apply plans and applies the manifest, and returns what a host would remember.
func (c *cluster) apply(t *testing.T, m *unstructured.Unstructured) *explain.State {
	t.Helper()
	plan := c.plan(t, ssaplan.Request{Manifest: m})
	applied, err := c.planner.Apply(lab.Context(t), plan)
	require.NoError(t, err)
	state, err := plan.State(applied)
	require.NoError(t, err)
	return state
}

func causes(plan *ssaplan.Plan) []string {
	out := []string{}
	for _, c := range plan.Changes {
		out = append(out, strings.TrimSpace(fmt.Sprintf("%s %s %s %s", c.Op, c.Path, c.Cause, c.Manager)))
	}
	return out
}

func set(m *unstructured.Unstructured, value any, path ...string) {
	if err := unstructured.SetNestedField(m.Object, value, path...); err != nil {
		panic(err)
	}
}

func TestWarningsReachTheirPlan(t *testing.T) {
	c := newCluster(t)
	var wg sync.WaitGroup
	warnings := make([][]string, 20)
	for i := range warnings {
		m := manifest(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: warned-%d}}", i)
		if i%2 == 0 {
			m.SetKind("Endpoints") // the server warns that they are deprecated
		}
		wg.Add(1)
		go func() {
			defer wg.Done()
			if plan, err := c.planner.Plan(t.Context(), ssaplan.Request{Manifest: m}); err == nil {
				for _, w := range plan.Warnings {
					warnings[i] = append(warnings[i], w.String())
				}
			}
		}()
	}
	wg.Wait()
	for i, w := range warnings {
		require.Equal(t, i%2 == 0, len(w) == 1, "%d: %q", i, w)
	}
}

func TestObserve(t *testing.T) {
	c := newCluster(t)
	var seen []server.Observation
	var log strings.Builder
	planner := c.Planner(t, ssaplan.Options{
		FieldManager: manager,
		Observe:      func(_ context.Context, o server.Observation) { seen = append(seen, o) },
		Logger:       slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	})
	m := manifest(t, "{apiVersion: v1, kind: Secret, metadata: {name: seen}, data: {password: Y2FuYXJ5}}")
	plan, err := planner.Plan(t.Context(), ssaplan.Request{Manifest: m})
	require.NoError(t, err)
	_, err = planner.Apply(lab.Context(t), plan)
	require.NoError(t, err)

	var lines []string
	require.Equal(t, "discover", seen[0].Verb)
	require.Equal(t, identity.Identity{APIVersion: "v1"}, seen[0].Object)
	for _, o := range seen[1:] {
		require.Equal(t, plan.Object, o.Object)
		require.Positive(t, o.Duration)
		require.Positive(t, o.Received)
		require.Equal(t, o.Verb == "patch", o.Sent > 0)
		lines = append(lines, fmt.Sprintf("%s %t %d %s", o.Verb, o.DryRun, o.Status, o.Class))
	}
	const whether = "patch true 422 BadRequest" // the server gets dryRun
	require.Equal(t, []string{"get false 404 NotFound", whether, "patch true 201 None", "patch false 201 None"}, lines)
	require.Equal(t, 5, strings.Count(log.String(), "level=DEBUG msg=request"))
	require.NotContains(t, log.String(), "Y2FuYXJ5")
}
