package ssaplan_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/deletion"
	"github.com/ssaplan/primitives/ssaplan/explain"
	"github.com/ssaplan/primitives/ssaplan/server"
	"github.com/ssaplan/primitives/ssaplan/ssaplantest"
)

func resources(server *ssaplantest.Server, resource string) dynamic.ResourceInterface {
	return server.Client().Resource(schema.GroupVersionResource{Version: "v1", Resource: resource}).Namespace("default")
}

// create creates a ConfigMap as another client.
func create(server *ssaplantest.Server, obj *unstructured.Unstructured) {
	options := metav1.CreateOptions{FieldManager: "other"}
	errorless(resources(server, "configmaps").Create(context.Background(), obj, options))
}

// remove deletes a ConfigMap as another client.
func remove(server *ssaplantest.Server, name string) {
	err := resources(server, "configmaps").Delete(context.Background(), name, metav1.DeleteOptions{})
	if err != nil {
		panic(err)
	}
}

func secret(name, password string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": name},
		"data": map[string]any{"password": password},
	}}
}

// applied plans and applies a manifest, and returns what a host would remember.
func applied(t *testing.T, planner *ssaplan.Planner, manifest *unstructured.Unstructured) *explain.State {
	t.Helper()
	plan := mustPlan(t, planner, ssaplan.Request{Manifest: manifest})
	obj := mustApply(t, planner, plan)
	state, err := plan.State(obj)
	require.NoError(t, err)
	return state
}

// The methods of a Planner, for tests in which they don't fail.

func mustPlan(t *testing.T, planner *ssaplan.Planner, request ssaplan.Request) *ssaplan.Plan {
	t.Helper()
	plan, err := planner.Plan(t.Context(), request)
	require.NoError(t, err)
	return plan
}

func mustApply(t *testing.T, planner *ssaplan.Planner, plan *ssaplan.Plan) *unstructured.Unstructured {
	t.Helper()
	obj, err := planner.Apply(t.Context(), plan)
	require.NoError(t, err)
	return obj
}

func mustReplace(
	t *testing.T, planner *ssaplan.Planner, plan *ssaplan.Plan, options deletion.Options,
) *unstructured.Unstructured {
	t.Helper()
	obj, err := planner.Replace(t.Context(), plan, options)
	require.NoError(t, err)
	return obj
}

func mustRead(t *testing.T, planner *ssaplan.Planner, state *explain.State) *ssaplan.Reading {
	t.Helper()
	reading, err := planner.Read(t.Context(), state)
	require.NoError(t, err)
	return reading
}

func mustPlanDelete(t *testing.T, planner *ssaplan.Planner, request deletion.Request) *deletion.Plan {
	t.Helper()
	plan, err := planner.PlanDelete(t.Context(), request)
	require.NoError(t, err)
	return plan
}

func mustNew(tb testing.TB, api server.Server, options ssaplan.Options) *ssaplan.Planner {
	tb.Helper()
	planner, err := ssaplan.New(api, options)
	require.NoError(tb, err)
	return planner
}

func mustMarshal(t *testing.T, v any) []byte {
	t.Helper()
	text, err := json.Marshal(v)
	require.NoError(t, err)
	return text
}

// A plan that lacks values writes and deletes nothing: without them, what is made is not what was meant.
func TestPlansWithUnknownValuesAreNotCarriedOut(t *testing.T) {
	for why, pattern := range map[string]string{
		"a value that was left out":       "data.password",
		"a value that isn't there at all": "data.token",
	} {
		t.Run(why, func(t *testing.T) {
			server, planner := world(ssaplan.Options{})
			state := applied(t, planner, secret("before", "b2xk"))
			unknown := patterns(t, pattern)
			plan := mustPlan(t, planner, ssaplan.Request{Manifest: secret("after", "bmV3"), Prior: state, Unknown: unknown})
			require.Equal(t, ssaplan.ActionReplace, plan.Action)
			_, err := planner.Replace(t.Context(), plan, deletion.Options{})
			require.ErrorContains(t, err, "v1/Secret default/after: plan again when these values are known: ")
			require.ErrorContains(t, err, pattern)
			_, err = resources(server, "secrets").Get(t.Context(), "before", metav1.GetOptions{})
			require.NoError(t, err, "the old object is left as it is")

			plan = mustPlan(t, planner, ssaplan.Request{Manifest: secret("fresh", "bmV3"), Unknown: unknown})
			_, err = planner.Apply(t.Context(), plan)
			require.ErrorContains(t, err, pattern)
			_, err = resources(server, "secrets").Get(t.Context(), "fresh", metav1.GetOptions{})
			require.True(t, apierrors.IsNotFound(err))
		})
	}
}

func TestNothingToCarryOut(t *testing.T) {
	_, planner := world(ssaplan.Options{})
	_, applied := planner.Apply(t.Context(), nil)
	_, replaced := planner.Replace(t.Context(), nil, deletion.Options{})
	_, read := planner.Read(t.Context(), nil)
	_, released := planner.PlanRelease(t.Context(), nil)
	require.EqualError(t, applied, "ssaplan: no plan to apply")
	require.EqualError(t, replaced, "ssaplan: no plan to carry out")
	require.EqualError(t, planner.ApplyDelete(t.Context(), nil, deletion.Options{}), "ssaplan: no plan to carry out")
	require.EqualError(t, read, "ssaplan: no state to refresh")
	require.EqualError(t, released, "ssaplan: no state that says what to release")
	require.EqualError(t, planner.Delete(t.Context(), nil, deletion.Options{}),
		"ssaplan: no state that says what to delete")

	_, err := explain.NewState(nil, nil, fieldowner.Applier{Manager: "my-tool"}, nil)
	require.EqualError(t, err, "explain: no object to remember")
	plan := mustPlan(t, planner, ssaplan.Request{Manifest: configMap("a", nil)})
	_, err = plan.State(nil)
	require.EqualError(t, err, "v1/ConfigMap default/a: no object to remember")
}

// The live object that a host supplies may be the one that all readers of its cache share.
func TestApplyOfANoOpReturnsAnObjectOfItsOwn(t *testing.T) {
	_, planner := world(ssaplan.Options{})
	manifest := configMap("a", map[string]any{"a": "A"})
	plan := mustPlan(t, planner, ssaplan.Request{Manifest: manifest})
	live := mustApply(t, planner, plan)
	plan = mustPlan(t, planner, ssaplan.Request{Manifest: manifest, Live: live})
	require.Equal(t, ssaplan.ActionNoOp, plan.Action)
	obj := mustApply(t, planner, plan)
	require.Equal(t, live, obj)
	obj.SetName("changed")
	require.Equal(t, "a", live.GetName())
}

// If the object changed since the review, Apply plans again. It sends the new request only if it equals the reviewed
// request. Here it doesn't, since the second planner doesn't force conflicts.
func TestApplySendsNoOtherRequestThanTheReviewed(t *testing.T) {
	server, planner := world(ssaplan.Options{})
	polite := mustNew(t, server.API(), ssaplan.Options{FieldManager: "my-tool", RefuseConflicts: true})
	applied(t, planner, configMap("a", map[string]any{"a": "A"}))
	plan := mustPlan(t, planner, ssaplan.Request{Manifest: configMap("a", map[string]any{"a": "B"})})
	patch(server, "a", `{"data": {"x": "theirs"}}`)

	_, err := polite.Apply(t.Context(), plan)
	var changed *ssaplan.ChangedError
	require.ErrorAs(t, err, &changed)
	require.False(t, *changed.Plan.Patch().Options.Force)
	mustApply(t, planner, plan)
}

func TestApplySaysThatAnObjectAppeared(t *testing.T) {
	server, planner := world(ssaplan.Options{})
	plan := mustPlan(t, planner, ssaplan.Request{Manifest: configMap("a", map[string]any{"a": "A"})})
	create(server, configMap("a", nil))
	_, err := planner.Apply(t.Context(), plan)
	require.True(t, apierrors.IsConflict(err))
	require.ErrorContains(t, err,
		"v1/ConfigMap default/a: apply: the object was created after the plan was made: plan again: ")
}

// An object that others change all the time without touching what was reviewed is followed for a while, and other
// failures are final: a write that failed for another reason isn't sent again.
func TestApplyTriesAgainAsOthersWrite(t *testing.T) {
	outrun := apierrors.NewConflict(configMaps, "a", errors.New("changed"))
	for _, row := range []struct {
		why   string
		err   error
		times int
		sent  int
		want  string
	}{
		{"somebody was faster once", outrun, 1, 2, ""},
		{"somebody is faster each time", outrun, 100, 3, "v1/ConfigMap default/a: apply: Operation cannot be fulfilled"},
		{
			"the server doesn't work", apierrors.NewServiceUnavailable("starting"), 1, 1,
			"v1/ConfigMap default/a: apply: starting",
		},
		{"the server refuses it, whoever was faster", forbidden, 1, 1, "v1/ConfigMap default/a: apply: configmaps \"a\" is forbidden"},
	} {
		t.Run(row.why, func(t *testing.T) {
			server, planner := world(ssaplan.Options{})
			applied(t, planner, configMap("a", map[string]any{"a": "A"}))
			plan := mustPlan(t, planner, ssaplan.Request{Manifest: configMap("a", map[string]any{"a": "B"})})
			before, failed := sent(server, "patch"), 0
			defer server.Answer(func(r ssaplantest.Request) error {
				if r.Verb != "patch" || r.DryRun || failed == row.times {
					return nil
				}
				failed++
				return row.err
			})()
			obj, err := planner.Apply(t.Context(), plan)
			require.Equal(t, row.sent, sent(server, "patch")-before)
			if row.want != "" {
				require.ErrorContains(t, err, row.want)
				return
			}
			require.NoError(t, err)
			require.Equal(t, map[string]any{"a": "B"}, obj.Object["data"])
		})
	}
}
