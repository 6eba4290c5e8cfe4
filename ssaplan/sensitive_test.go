package ssaplan_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/explain"
)

// What the host names as sensitive is planned like everything else, also by the digests that a state has in its place.
// TestPrintedResultsShowNoSecrets looks for it in all that is shown.
func TestSensitiveFieldsOfTheHost(t *testing.T) {
	server, planner := world(ssaplan.Options{Sensitive: patterns(t, "data.password")})
	settings := func(password string) *unstructured.Unstructured {
		return configMap("app", map[string]any{"password": password, "user": "jane"})
	}
	plan := mustPlan(t, planner, ssaplan.Request{Manifest: settings("hunter2-one")})
	require.Contains(t, fmt.Sprint(plan.Changes), "jane")
	restored := appliedAndStored(t, planner, plan)
	require.NotContains(t, string(mustMarshal(t, restored)), "hunter2")

	same := mustPlan(t, planner, ssaplan.Request{Manifest: settings("hunter2-one"), Prior: restored})
	require.Equal(t, ssaplan.ActionNoOp, same.Action)
	reading := mustRead(t, planner, restored)
	require.Empty(t, reading.Drift, "digests tell that it is the same")
	patch(server, "app", `{"data":{"password":"hunter2-theirs"}}`)
	reading = mustRead(t, planner, restored)
	require.Len(t, reading.Drift, 1)
	drifted := mustPlan(t, planner, ssaplan.Request{Manifest: settings("hunter2-one"), Prior: reading.State})
	require.Equal(t, explain.CauseDrifted, drifted.Changes[0].Cause)
	require.True(t, drifted.Changes[0].Sensitive)
	edited := mustPlan(t, planner, ssaplan.Request{Manifest: settings("hunter2-two"), Prior: restored})
	require.Equal(t, explain.CauseEdited, edited.Changes[0].Cause)
}
