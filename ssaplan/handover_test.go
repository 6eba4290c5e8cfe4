package ssaplan_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/ssaplan"
)

// What is to change hands is looked for in what the request names, and is another question than whether the manifest changes anything.
func TestFieldsChangeHands(t *testing.T) {
	for _, row := range []struct {
		why      string
		adopt    []string
		tools    bool
		giveUp   []string
		action   ssaplan.Action
		requests int
	}{
		{"nothing", nil, false, nil, ssaplan.ActionNoOp, 0},
		{"from a manager", []string{"kubectl"}, false, nil, ssaplan.ActionUpdate, 1},
		{"from the tools", nil, true, nil, ssaplan.ActionUpdate, 1},
		{"given up", nil, false, []string{"data.a"}, ssaplan.ActionUpdate, 1},
		{"both", []string{"kubectl"}, false, []string{"data.a"}, ssaplan.ActionUpdate, 1},
		{"from nobody", []string{"x"}, false, nil, ssaplan.ActionNoOp, 0},
	} {
		t.Run(row.why, func(t *testing.T) {
			server, planner := world(ssaplan.Options{
				NoOps: ssaplan.NewNoOpCache(ssaplan.NoOpCacheOptions{}), Tools: []fieldowner.Tool{{Name: "ours", Manager: "kubectl"}},
			})
			manifest := configMap("a", map[string]any{"a": "A", "b": "B"})
			request := ssaplan.Request{Manifest: manifest, Adopt: row.adopt, AdoptTools: row.tools, GiveUp: patterns(t, row.giveUp...)}
			require.Equal(t, ssaplan.ActionCreate, plan(t, planner, request).Action)
			applied(t, planner, configMap("a", map[string]any{"a": "A"}))
			patch(server, "a", `{"data": {"b": "B"}}`)
			applied(t, planner, manifest)
			live := errorless(resources(server, "configmaps").Get(t.Context(), "a", metav1.GetOptions{}))
			require.Equal(t, ssaplan.ActionNoOp, plan(t, planner, ssaplan.Request{Manifest: manifest, Live: live}).Action)

			request.Live = live
			p := plan(t, planner, request)
			require.Equal(t, row.action, p.Action)
			require.Equal(t, row.requests, p.Requests)
			require.Equal(t, row.action == ssaplan.ActionUpdate, len(p.Ownership) > 0)
		})
	}
}
