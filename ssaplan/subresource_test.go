package ssaplan_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/deletion"
)

// claim returns a PersistentVolumeClaim, and one of which only the status is applied.
func claim() (whole, status *unstructured.Unstructured) {
	whole, status = manifestOf("v1", "PersistentVolumeClaim", "default", "a"), manifestOf("v1", "PersistentVolumeClaim", "default", "a")
	whole.Object["spec"] = map[string]any{"volumeName": "v"}
	status.Object["status"] = map[string]any{"phase": "Bound"}
	return whole, status
}

func TestStatusIsPlannedAsTheObjectIs(t *testing.T) {
	_, planner := world(ssaplan.Options{NoOps: ssaplan.NewNoOpCache(ssaplan.NoOpCacheOptions{Size: 10})})
	whole, status := claim()
	request := ssaplan.Request{Manifest: status, Subresource: "status"}
	_, err := planner.Plan(t.Context(), request)
	require.ErrorContains(t, err, "v1/PersistentVolumeClaim default/a: there is no object whose status could be applied: create it first")

	applied(t, planner, whole)
	plan := mustPlan(t, planner, request)
	require.Equal(t, ssaplan.ActionUpdate, plan.Action, plan.Reason)
	require.Empty(t, plan.Dropped, "what the same manager applied to the object itself")
	require.Equal(t, "status", plan.Subresource)
	obj := mustApply(t, planner, plan)
	state, err := plan.State(obj)
	require.NoError(t, err)
	require.Equal(t, "status", state.Subresource)
	require.Equal(t, projection.NewFieldSet(path("status.phase")).String(), state.Applied.Fields.String())

	plan = mustPlan(t, planner, request)
	require.Equal(t, ssaplan.ActionNoOp, plan.Action)
	for _, again := range []int{2, 1} { // the cache doesn't take the one for the other
		plan = mustPlan(t, planner, ssaplan.Request{Manifest: whole, Live: obj})
		require.Equal(t, ssaplan.ActionNoOp, plan.Action)
		require.Equal(t, again-1, plan.Requests)
	}

	reading := mustRead(t, planner, state)
	require.Empty(t, reading.Drift)
	require.Equal(t, "status", reading.State.Subresource)
}

// Nothing is replaced or deleted for a subresource, whatever the server says.
func TestSubresourcesNeverReplace(t *testing.T) {
	server, planner := world(ssaplan.Options{})
	whole, status := claim()
	plan := mustPlan(t, planner, ssaplan.Request{Manifest: whole})
	obj := mustApply(t, planner, plan)
	wholeState, err := plan.State(obj)
	require.NoError(t, err)
	request := ssaplan.Request{Manifest: status, Subresource: "status"}
	plan = mustPlan(t, planner, request)
	statusState, err := plan.State(obj)
	require.NoError(t, err)

	request.Prior = wholeState
	_, err = planner.Plan(t.Context(), request)
	require.ErrorContains(t, err, `the prior state is of the subresource "", and the request of "status"`)
	request.Prior = statusState
	request.Manifest = status.DeepCopy()
	request.Manifest.SetName("b")
	_, err = planner.Plan(t.Context(), request)
	require.ErrorContains(t, err, "the prior state is of another object, whose status stays as it is: plan without it")
	require.ErrorContains(t, planner.Delete(t.Context(), statusState, deletion.Options{}), "is of its status alone, which can't be deleted")

	immutable := apierrors.NewInvalid(schema.GroupKind{Kind: "PersistentVolumeClaim"}, "a",
		field.ErrorList{field.Invalid(field.NewPath("status"), "x", "field is immutable")})
	for _, row := range []struct {
		why, want string
		err       error
	}{
		{"an immutable field", "v1/PersistentVolumeClaim default/a: invalid: status: ", immutable},
		{"no such subresource", "apply of the subresource status", apierrors.NewNotFound(schema.GroupResource{Resource: "persistentvolumeclaims"}, "a")},
		{"no such kind any more", "apply of the subresource status", apierrors.NewGenericServerResponse(http.StatusNotFound, "patch",
			schema.GroupResource{}, "", "404 page not found", 0, true)},
	} {
		stop := server.Answer(answering("patch", "persistentvolumeclaims", row.err))
		_, err = planner.Plan(t.Context(), ssaplan.Request{Manifest: status, Subresource: "status"})
		require.ErrorContains(t, err, row.want, row.why)
		stop()
	}
}

// A scale has no record but the one that is made for the replicas, so a manifest without them is refused before the
// server is asked.
func TestScalesNeedReplicas(t *testing.T) {
	server, planner := world(ssaplan.Options{})
	applied(t, planner, deployment(2, map[string]any{"name": "c", "image": "i"}))
	scale := manifestOf("apps/v1", "Deployment", "default", "a")
	scale.Object["spec"] = map[string]any{}
	request := ssaplan.Request{Manifest: scale, Subresource: "scale"}
	before := tried(server)
	_, err := planner.Plan(t.Context(), request)
	require.ErrorContains(t, err, "spec.replicas: missing")
	require.Equal(t, before, tried(server))

	scale.Object["spec"] = map[string]any{"replicas": int64(3)}
	mustPlan(t, planner, request)
	require.Equal(t, before+1, tried(server))
}

// What is remembered is of the planned object, also if the server answers with a Scale.
func TestStatesAreOfThePlannedObject(t *testing.T) {
	_, planner := world(ssaplan.Options{})
	plan := mustPlan(t, planner, ssaplan.Request{Manifest: deployment(2, map[string]any{"name": "c", "image": "i"})})
	scale := manifestOf("autoscaling/v1", "Scale", "default", "a")
	state, err := plan.State(scale)
	require.NoError(t, err)
	require.Equal(t, plan.Object, state.Identity)
	scale.Object["metadata"].(map[string]any)["managedFields"] = []any{"broken"}
	_, err = plan.State(scale)
	require.ErrorContains(t, err, "managedFields")
}
