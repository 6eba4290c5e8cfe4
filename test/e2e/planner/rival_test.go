package planner_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/test/lab"
)

// TestRival has somebody else apply under the name of the planner, in a later second, as records tell no less. What others do under
// their own names is drift and no rival.
func TestRival(t *testing.T) {
	c := newCluster(t)
	for name, body := range map[string]string{
		"map":  "{apiVersion: v1, kind: ConfigMap, metadata: {name: rival}, data: {a: A, b: B}}",
		"list": `{apiVersion: v1, kind: Service, metadata: {name: rival}, spec: {ports: [{name: a, port: 1}, {name: b, port: 2}], selector: {a: A}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			m := lab.Object(t, body)
			request := ssaplan.Request{Manifest: m}
			plan := c.plan(t, request)
			obj, err := c.planner.Apply(t.Context(), plan)
			require.NoError(t, err)
			request.Prior, err = plan.State(obj)
			require.NoError(t, err)
			require.Nil(t, c.plan(t, request).Rival)

			time.Sleep(1100 * time.Millisecond)
			c.Patch(t, "somebody", m, map[string]string{"map": `{"data":{"b":"theirs"}}`, "list": `{"spec":{"selector":{"a":"theirs"}}}`}[name])
			require.Nil(t, c.plan(t, request).Rival)
			other := m.DeepCopy()
			changed := map[string][]string{"map": {"data", "a"}, "list": {"spec", "sessionAffinity"}}[name]
			set(other, map[string]any{"map": "X", "list": "ClientIP"}[name], changed...)
			c.Apply(t, manager, other)

			plan = c.plan(t, request)
			require.NotNil(t, plan.Rival)
			require.Equal(t, map[string]string{"map": "data.a", "list": "spec.sessionAffinity"}[name], projection.JoinPaths(plan.Rival.Paths))
			require.Contains(t, fmt.Sprint(plan.Warnings), "another tool applies under the same field manager")
		})
	}
}
