package ssaplan_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/ssaplan/primitives/authresilience"
	"github.com/ssaplan/primitives/immutability"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/explain"
	"github.com/ssaplan/primitives/ssaplan/ssaplantest"
)

// renamed returns a plan to replace the object before by one called after.
func renamed(t *testing.T, planner *ssaplan.Planner, edit func(*explain.State)) *ssaplan.Plan {
	t.Helper()
	state := applied(t, planner, configMap("before", map[string]any{"a": "A"}))
	edit(state)
	plan, err := planner.Plan(t.Context(), ssaplan.Request{Manifest: configMap("after", map[string]any{"a": "A"}), Prior: state})
	require.NoError(t, err)
	require.Equal(t, ssaplan.ActionReplace, plan.Action)
	return plan
}

func names(t *testing.T, server *ssaplantest.Server) []string {
	t.Helper()
	list, err := resources(server, "configmaps").List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	var found []string
	for _, item := range list.Items {
		found = append(found, item.GetName())
	}
	return found
}

// proxyPage is the answer of something in front of the server, which repeats the request.
func proxyPage(verb string) error {
	return apierrors.NewGenericServerResponse(http.StatusBadGateway, verb, schema.GroupResource{Resource: "configmaps"}, "before",
		"<html>Authorization: Bearer canary</html>", 0, true)
}

func TestErrorsOfAReplacementRepeatNoProxy(t *testing.T) {
	require.ErrorContains(t, proxyPage("get"), "canary")
	for _, verb := range []string{"get", "patch", "delete"} {
		t.Run(verb, func(t *testing.T) {
			server, planner := world(ssaplan.Options{})
			plan := renamed(t, planner, func(*explain.State) {})
			server.AnswerNext(verb, proxyPage(verb))
			_, err := planner.Replace(t.Context(), plan, ssaplan.DeleteOptions{})
			var stopped *ssaplan.ReplaceError
			require.ErrorAs(t, err, &stopped)
			require.ErrorContains(t, err, "HTTP 502")
			require.NotContains(t, err.Error(), "canary")
			require.NotContains(t, stopped.Err.Error(), "canary")
		})
	}
}

// Without a UID nothing tells whether the object is the one that was meant, so it is neither deleted nor taken for another.
func TestNothingIsDeletedWithoutAKnownUID(t *testing.T) {
	server, planner := world(ssaplan.Options{})
	plan := renamed(t, planner, func(state *explain.State) { state.UID = "" })
	_, err := planner.Replace(t.Context(), plan, ssaplan.DeleteOptions{})
	require.ErrorContains(t, err, "uid")
	require.NotErrorIs(t, err, ssaplan.ErrRecreated)

	state := applied(t, planner, configMap("before", map[string]any{"a": "A"}))
	state.UID = ""
	err = planner.Delete(t.Context(), state, ssaplan.DeleteOptions{})
	require.ErrorContains(t, err, "uid")
	require.NotErrorIs(t, err, ssaplan.ErrRecreated)
	require.Equal(t, []string{"before"}, names(t, server))

	require.NoError(t, resources(server, "configmaps").Delete(t.Context(), "before", metav1.DeleteOptions{}))
	require.NoError(t, planner.Delete(t.Context(), state, ssaplan.DeleteOptions{}), "gone is gone, whichever it was")
	_, err = planner.Replace(t.Context(), plan, ssaplan.DeleteOptions{})
	require.NoError(t, err)
	require.Equal(t, []string{"after"}, names(t, server))
}

// A renamed object may hold more than the plan, which knows it by its name only, can say.
func TestReplaceStopsBeforeWhatThePlanDoesNotName(t *testing.T) {
	server, planner := world(ssaplan.Options{})
	claim := func(name string) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": map[string]any{"name": name},
			"spec": map[string]any{"volumeName": "disk"},
		}}
	}
	state := applied(t, planner, claim("before"))
	plan, err := planner.Plan(t.Context(), ssaplan.Request{Manifest: claim("after"), Prior: state})
	require.NoError(t, err)
	plan.Replacement.Hazards = nil
	_, err = planner.Replace(t.Context(), plan, ssaplan.DeleteOptions{})
	var stopped *ssaplan.ReplaceError
	require.ErrorAs(t, err, &stopped)
	require.Equal(t, ssaplan.StageChecking, stopped.Stage)
	require.ErrorContains(t, err, "the claim lets go of volume disk")
	_, err = resources(server, "persistentvolumeclaims").Get(t.Context(), "before", metav1.GetOptions{})
	require.NoError(t, err)

	plan.Replacement.Hazards = []immutability.Hazard{{Kind: immutability.HazardData, Message: "the volume"}}
	_, err = planner.Replace(t.Context(), plan, ssaplan.DeleteOptions{})
	require.NoError(t, err)
	_, err = resources(server, "persistentvolumeclaims").Get(t.Context(), "before", metav1.GetOptions{})
	require.True(t, apierrors.IsNotFound(err))
}

// A known text about an immutable field may do for a plan. Before anything is deleted, the server has to answer.
func TestReplaceDeletesNothingUnproven(t *testing.T) {
	server, planner := world(ssaplan.Options{})
	state := applied(t, planner, configMap("a", map[string]any{"a": "A"}))
	immutable := apierrors.NewInvalid(schema.GroupKind{Kind: "ConfigMap"}, "a", field.ErrorList{
		field.Forbidden(field.NewPath("data"), "field is immutable when `immutable` is set")})
	defer server.Answer(func(r ssaplantest.Request) error {
		if r.Verb == "patch" && r.DryRun {
			return immutable
		}
		return nil
	})()
	plan, err := planner.Plan(t.Context(), ssaplan.Request{Manifest: configMap("a", map[string]any{"a": "B"})})
	require.NoError(t, err)
	require.Equal(t, ssaplan.ActionReplace, plan.Action)

	server.AnswerNext("create", apierrors.NewServiceUnavailable("starting"))
	_, err = planner.Replace(t.Context(), plan, ssaplan.DeleteOptions{})
	require.Equal(t, authresilience.ClassUnavailable, authresilience.Classify(err))
	require.ErrorContains(t, err, "stopped while checking: v1/ConfigMap default/a: dry run of the create: ")
	live, err := resources(server, "configmaps").Get(t.Context(), "a", metav1.GetOptions{})
	require.NoError(t, err)
	require.Equal(t, state.UID, string(live.GetUID()))

	_, err = planner.Replace(t.Context(), plan, ssaplan.DeleteOptions{})
	require.NoError(t, err)
}
