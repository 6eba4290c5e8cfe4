package planner_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/projection/foreign"
	"github.com/ssaplan/primitives/ssaplan"
)

// scaledDeployment is a Deployment whose scale is applied.
const scaledDeployment = `{apiVersion: apps/v1, kind: Deployment, metadata: {name: %s}, spec: {replicas: 1, selector: {matchLabels: {a: b}},
	template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: i}]}}}}`

// Others write the same subresource: with force the plan names who loses it, without it's a conflict, and what they
// changed is drift.
func TestSubresourceOfOthers(t *testing.T) {
	c := newCluster(t)
	widget := manifest(t, "{apiVersion: example.com/v1, kind: Widget, metadata: {name: shared-status}, spec: {size: 1}}")
	c.apply(t, widget)
	ours := manifest(t, "{apiVersion: example.com/v1, kind: Widget, metadata: {name: shared-status}, status: {ready: 1}}")
	request := ssaplan.Request{Manifest: ours, Subresource: "status"}
	plan := c.plan(t, request)
	applied, err := c.planner.Apply(t.Context(), plan)
	require.NoError(t, err)
	request.Prior, err = plan.State(applied)
	require.NoError(t, err)

	_, err = c.Resource(t, widget).Patch(t.Context(), "shared-status", types.MergePatchType, []byte(`{"status":{"ready":7}}`),
		metav1.PatchOptions{FieldManager: "other"}, "status")
	require.NoError(t, err)
	plan = c.plan(t, request)
	require.Equal(t, []string{"change status.ready Drifted other"}, causes(plan))
	require.Equal(t, foreign.Text("status"), plan.Changes[0].Subresource)
	reading, err := c.planner.Read(t.Context(), request.Prior)
	require.NoError(t, err)
	require.Len(t, reading.Drift, 1)
	require.Equal(t, foreign.Text("other"), reading.Drift[0].Manager)

	refused, err := c.polite(t).Plan(t.Context(), request)
	require.NoError(t, err)
	require.Equal(t, ssaplan.ActionConflict, refused.Action)
	require.Len(t, refused.Conflicts, 1)
	require.Equal(t, "status.ready", refused.Conflicts[0].Path.String())

	// What somebody changes after the review isn't overwritten.
	_, err = c.Resource(t, widget).Patch(t.Context(), "shared-status", types.MergePatchType, []byte(`{"status":{"ready":8}}`),
		metav1.PatchOptions{FieldManager: "third"}, "status")
	require.NoError(t, err)
	_, err = c.planner.Apply(t.Context(), plan)
	require.ErrorAs(t, err, new(*ssaplan.ChangedError))
	require.ErrorContains(t, err, "review the new plan")
}

// The scale of a Deployment that an autoscaler scales: who owns the replicas is known, though a Scale doesn't tell.
func TestScaleOfOthers(t *testing.T) {
	c := newCluster(t)
	web := manifest(t, scaledDeployment, "web")
	c.apply(t, web)
	scale := func(n int) ssaplan.Request {
		return ssaplan.Request{Subresource: "scale",
			Manifest: manifest(t, "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {replicas: %d}}", n)}
	}
	c.Patch(t, "autoscaler", web, `{"spec":{"replicas":4}}`, "scale")
	for _, row := range []struct {
		why       string
		replicas  int
		action    ssaplan.Action
		ownership []string
	}{
		{"the same number is shared", 4, ssaplan.ActionUpdate, []string{`spec.replicas: shared with "autoscaler" (Update of scale)`}},
		{"and again changes nothing", 4, ssaplan.ActionNoOp, nil},
		{"another is taken", 5, ssaplan.ActionUpdate, []string{`spec.replicas: taken from "autoscaler" (Update of scale)`}},
	} {
		plan := c.plan(t, scale(row.replicas))
		require.Equal(t, row.action, plan.Action, row.why)
		var got []string
		for _, o := range plan.Ownership {
			got = append(got, o.String())
		}
		require.Equal(t, row.ownership, got, row.why)
		predicted, err := plan.OwnershipAfter()
		require.NoError(t, err)
		_, err = c.planner.Apply(t.Context(), plan)
		require.NoError(t, err)
		real, err := fieldowner.Read(c.Get(t, web).Object)
		require.NoError(t, err)
		path, err := projection.ParsePath("spec.replicas")
		require.NoError(t, err)
		require.Equal(t, timeless(real.Of(path)), timeless(predicted.Of(path)), row.why)
	}
	c.Patch(t, "autoscaler", web, `{"spec":{"replicas":6}}`, "scale")
	plan, err := c.polite(t).Plan(t.Context(), scale(5))
	require.NoError(t, err)
	require.Equal(t, ssaplan.ActionConflict, plan.Action)
	require.Equal(t, `"autoscaler" (Update of scale)`, plan.Conflicts[0].Owner.String())
}

func timeless(owners []fieldowner.Owner) (out []fieldowner.Owner) {
	for _, o := range owners {
		o.Time = time.Time{}
		out = append(out, o)
	}
	return out
}

// What a subresource can't be asked for is an error that says so, and nothing is ever replaced or deleted for one.
func TestSubresourceErrors(t *testing.T) {
	c := newCluster(t)
	widget := manifest(t, "{apiVersion: example.com/v1, kind: Widget, metadata: {name: errors}, spec: {size: 1}}")
	state := c.apply(t, widget)
	status := manifest(t, "{apiVersion: example.com/v1, kind: Widget, metadata: {name: errors}, status: {ready: 1}}")
	settings := manifest(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: errors}, data: {a: b}}")
	c.apply(t, settings)
	c.apply(t, manifest(t, scaledDeployment, "errors"))
	plan := c.plan(t, ssaplan.Request{Manifest: status, Subresource: "status"})
	applied, err := c.planner.Apply(t.Context(), plan)
	require.NoError(t, err)
	statusState, err := plan.State(applied)
	require.NoError(t, err)
	elsewhere := manifest(t, "{apiVersion: example.com/v1, kind: Widget, metadata: {name: elsewhere}, status: {ready: 1}}")
	for _, row := range []struct {
		why     string
		request ssaplan.Request
		want    string
	}{
		{"the object isn't there", ssaplan.Request{Manifest: elsewhere, Subresource: "status"}, "create it first"},
		{"a kind without status", ssaplan.Request{Manifest: settings, Subresource: "status"}, "apply of the subresource status"},
		{"a kind without scale", ssaplan.Request{
			Manifest:    manifest(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: errors}, spec: {replicas: 2}}"),
			Subresource: "scale"}, "subresource scale"},
		{"no subresource at all", ssaplan.Request{Manifest: widget, Subresource: "nonsense"}, "apply of the subresource nonsense"},
		{"a scale without replicas", ssaplan.Request{Manifest: widget, Subresource: "scale"}, "spec.replicas: missing"},
		{"the scale of a custom resource whose replicas nobody owns", ssaplan.Request{
			Manifest:    manifest(t, "{apiVersion: example.com/v1, kind: Widget, metadata: {name: errors}, spec: {replicas: 2}}"),
			Subresource: "scale"}, "autoscaling/v1"},
		{"more than a scale has", ssaplan.Request{
			Manifest:    manifest(t, "{apiVersion: apps/v1, kind: Deployment, metadata: {name: errors}, spec: {replicas: 2, paused: true}}"),
			Subresource: "scale"}, ".spec.paused"},
		{"the state of the object itself", ssaplan.Request{Manifest: status, Subresource: "status", Prior: state}, `the prior state is of the subresource ""`},
		{"the state of a subresource", ssaplan.Request{Manifest: widget, Prior: statusState}, `the prior state is of the subresource "status"`},
		{"the status of another object", ssaplan.Request{Manifest: elsewhere, Subresource: "status", Prior: statusState}, "another object"},
	} {
		_, err := c.planner.Plan(t.Context(), row.request)
		require.ErrorContains(t, err, row.want, row.why)
		t.Log(err)
	}
	require.ErrorContains(t, c.planner.Delete(t.Context(), statusState, ssaplan.DeleteOptions{}), "can't be deleted")
	_, err = c.Resource(t, widget).Get(t.Context(), "errors", metav1.GetOptions{})
	require.False(t, apierrors.IsNotFound(err))
}
