package ssaplan_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/ssaplan/primitives/immutability"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/ssaplantest"
)

// body returns what the plan's dry run sent.
func body(t *testing.T, plan *ssaplan.Plan) map[string]any {
	t.Helper()
	var body map[string]any
	require.NoError(t, json.Unmarshal(plan.Patch().Body, &body))
	return body
}

// The live value is sent in the place of one that isn't known, and that of the object as it was tried on: what others
// change or remove between the read and the dry run is held as they left it.
func TestUnknownValuesAreHeldAtEachAttempt(t *testing.T) {
	for _, row := range []struct {
		why, meanwhile string
		data           map[string]any
		requests       int
	}{
		{"nobody changes it", "", map[string]any{"a": "A2", "b": "B"}, 2},
		{"others change it", `{"data": {"b": "theirs"}}`, map[string]any{"a": "A2", "b": "theirs"}, 4},
		{"others remove it", `{"data": {"b": null}}`, map[string]any{"a": "A2"}, 4},
	} {
		t.Run(row.why, func(t *testing.T) {
			server, planner := world(ssaplan.Options{})
			applied(t, planner, configMap("a", map[string]any{"a": "A", "b": "B"}))
			defer server.Answer(func(r ssaplantest.Request) error {
				if r.DryRun && row.meanwhile != "" {
					change := row.meanwhile
					row.meanwhile = ""
					patch(server, "a", change)
				}
				return nil
			})()
			manifest := configMap("a", map[string]any{"a": "A2", "b": "not known"})
			plan := mustPlan(t, planner, ssaplan.Request{Manifest: manifest, Unknown: patterns(t, "data.b")})
			require.Equal(t, ssaplan.ActionUpdate, plan.Action)
			require.Equal(t, row.data, body(t, plan)["data"])
			require.Len(t, plan.Changes, 1)
			require.Equal(t, `data.a: "A" -> "A2"`, plan.Changes[0].String())
			require.Equal(t, row.requests, plan.Requests)
			require.Equal(t, "not known", manifest.Object["data"].(map[string]any)["b"], "the manifest stays as it is")
		})
	}
}

func deployment(replicas int64, containers ...any) *unstructured.Unstructured {
	obj := manifestOf("apps/v1", "Deployment", "default", "a")
	labels := map[string]any{"app": "a"}
	obj.Object["spec"] = map[string]any{
		"replicas": replicas, "selector": map[string]any{"matchLabels": labels},
		"template": map[string]any{"metadata": map[string]any{"labels": labels}, "spec": map[string]any{"containers": containers}},
	}
	return obj
}

// A new item that lacks a value may be refused without it. Then the item as a whole isn't known, and the rest is
// planned. If nothing is left that could be left out, the plan is deferred.
func TestUnknownValuesOfNewItems(t *testing.T) {
	invalid := apierrors.NewInvalid(schema.GroupKind{Group: "apps", Kind: "Deployment"}, "a",
		field.ErrorList{field.Required(field.NewPath("spec", "template", "spec", "containers").Index(1).Child("image"), "")})
	container := func(name string) any { return map[string]any{"name": name, "image": "i"} }
	for _, row := range []struct {
		why      string
		exists   bool
		unknown  string
		refusals int
		action   ssaplan.Action
		requests int
		sent     int
	}{
		{"the item is left out", true, `spec.template.spec.containers[name="d"].image`, 1, ssaplan.ActionUpdate, 3, 1},
		{"without it is refused as well", true, `spec.template.spec.containers[name="d"].image`, 9, ssaplan.ActionDeferred, 3, 1},
		{"the item is there: its value was held", true, `spec.template.spec.containers[name="c"].image`, 1, ssaplan.ActionDeferred, 2, 2},
		{"nothing is there", false, `spec.template.spec.containers[name="d"].image`, 1, ssaplan.ActionDeferred, 2, 2},
	} {
		t.Run(row.why, func(t *testing.T) {
			server, planner := world(ssaplan.Options{})
			if row.exists {
				applied(t, planner, deployment(2, container("c")))
			}
			defer server.Answer(func(r ssaplantest.Request) error {
				if r.DryRun && row.refusals > 0 {
					row.refusals--
					return invalid
				}
				return nil
			})()
			plan := mustPlan(t, planner, ssaplan.Request{
				Manifest: deployment(3, container("c"), container("d")), Unknown: patterns(t, row.unknown),
			})
			require.Equal(t, row.action, plan.Action, plan.Reason)
			require.Equal(t, row.requests, plan.Requests)
			containers, _, err := unstructured.NestedSlice(body(t, plan), "spec", "template", "spec", "containers")
			require.NoError(t, err)
			require.Len(t, containers, row.sent)
			if row.action == ssaplan.ActionUpdate {
				require.Len(t, plan.Changes, 1)
				require.Equal(t, "spec.replicas: 2 -> 3", plan.Changes[0].String())
				return
			}
			require.Equal(t, ssaplan.DeferralUnknownValues, plan.Deferral)
			require.ErrorContains(t, errorOf(planner.Apply(t.Context(), plan)), "plan again when these values are known")
		})
	}
}

// Another identity is another object whatever isn't known of it, and that the server refuses it without that value
// disproves nothing.
func TestUnknownValuesOfAnotherIdentity(t *testing.T) {
	server, planner := world(ssaplan.Options{})
	container := map[string]any{"name": "c", "image": "i"}
	state := applied(t, planner, deployment(2, container))
	invalid := apierrors.NewInvalid(schema.GroupKind{Group: "apps", Kind: "Deployment"}, "b",
		field.ErrorList{field.Required(field.NewPath("spec", "template", "spec", "containers").Index(0).Child("image"), "")})
	defer server.Answer(failing(invalid, func(r ssaplantest.Request) bool { return r.DryRun }))()
	other := deployment(2, container)
	other.SetName("b")
	_, err := planner.Plan(t.Context(), ssaplan.Request{Manifest: other, Prior: state})
	refused := (*immutability.RefusedError)(nil)
	require.ErrorAs(t, err, &refused, "with all values it can't be made")
	plan := mustPlan(t, planner, ssaplan.Request{
		Manifest: other, Prior: state, Unknown: patterns(t, "spec.template.spec.containers[0].image"),
	})
	require.Equal(t, ssaplan.ActionReplace, plan.Action)
	require.Contains(t, plan.Warnings[0].String(), "unknown which fields the server adds to the new object")
	require.ErrorContains(t, errorOf(planner.Apply(t.Context(), plan)), "plan again when these values are known")
}

func errorOf[T any](_ T, err error) error { return err }

// What is sent without the values that aren't known yet can be what a no-op sent, and is another question.
func TestUnknownValuesAreNotRemembered(t *testing.T) {
	server, planner := world(ssaplan.Options{NoOps: ssaplan.NewNoOpCache(ssaplan.NoOpCacheOptions{})})
	applied(t, planner, configMap("a", map[string]any{"a": "A"}))
	live := errorless(resources(server, "configmaps").Get(t.Context(), "a", metav1.GetOptions{}))
	p := mustPlan(t, planner, ssaplan.Request{Manifest: configMap("a", map[string]any{"a": "A"}), Live: live})
	require.Equal(t, ssaplan.ActionNoOp, p.Action)
	p = mustPlan(t, planner, ssaplan.Request{
		Manifest: configMap("a", map[string]any{"a": "A", "b": "not known"}), Live: live, Unknown: patterns(t, "data.b"),
	})
	require.Equal(t, ssaplan.DeferralUnknownValues, p.Deferral)
}
