package ssaplan_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/explain"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// What the host names as sensitive is in no output, error or state, and is planned like everything else.
func TestSensitiveFieldsOfTheHost(t *testing.T) {
	server, planner := world(ssaplan.Options{Sensitive: patterns(t, "data.password")})
	settings := func(password string) *unstructured.Unstructured {
		return configMap("app", map[string]any{"password": password, "user": "jane"})
	}
	show := func(plan *ssaplan.Plan) string {
		text := mustMarshal(t, plan)
		return fmt.Sprintf("%s %v %v %v %v %v", text, plan, plan.Changes, plan.Before, plan.After, plan.Baseline)
	}
	plan := mustPlan(t, planner, ssaplan.Request{Manifest: settings("hunter2-one")})
	require.NotContains(t, show(plan), "hunter2")
	require.Contains(t, show(plan), "jane")
	obj := mustApply(t, planner, plan)
	state, err := plan.State(obj)
	require.NoError(t, err)
	text := mustMarshal(t, state)
	require.NotContains(t, string(text), "hunter2")
	restored := &explain.State{}
	require.NoError(t, json.Unmarshal(text, restored))

	same := mustPlan(t, planner, ssaplan.Request{Manifest: settings("hunter2-one"), Prior: restored})
	require.Equal(t, ssaplan.ActionNoOp, same.Action)
	reading := mustRead(t, planner, restored)
	require.Empty(t, reading.Drift, "digests tell that it is the same")
	_, err = resources(server, "configmaps").Patch(t.Context(), "app", types.MergePatchType, []byte(`{"data":{"password":"hunter2-theirs"}}`),
		metav1.PatchOptions{FieldManager: "other"})
	require.NoError(t, err)
	reading = mustRead(t, planner, restored)
	require.Len(t, reading.Drift, 1)
	require.NotContains(t, fmt.Sprint(reading.Drift), "hunter2")
	drifted := mustPlan(t, planner, ssaplan.Request{Manifest: settings("hunter2-one"), Prior: reading.State})
	require.Equal(t, explain.CauseDrifted, drifted.Changes[0].Cause)
	require.True(t, drifted.Changes[0].Sensitive)
	require.NotContains(t, show(drifted), "hunter2")
	edited := mustPlan(t, planner, ssaplan.Request{Manifest: settings("hunter2-two"), Prior: restored})
	require.Equal(t, explain.CauseEdited, edited.Changes[0].Cause)
	require.NotContains(t, show(edited), "hunter2")

	defer server.Answer(answering("patch", "configmaps", apierrors.NewInternalError(serverText("no hunter2-two"))))()
	_, err = planner.Plan(t.Context(), ssaplan.Request{Manifest: settings("hunter2-two"), Prior: restored})
	require.ErrorContains(t, err, "redacted")
	require.NotContains(t, err.Error(), "hunter2")
}
