package planner_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/test/lab"
)

const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// The server brings the annotation of client-side apply up to date if the manager kubectl applies, and treats some
// other managers of kubectl specially. What is stored is what the plan says for each of them, and the next plan is a
// no-op. A Planner refuses the name before-first-apply.
func TestManagersThatTheServerKnows(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	const text = "{apiVersion: v1, kind: ConfigMap, metadata: {name: %s%s}, data: {a: %q}}"
	const annotated = ", annotations: {" + lastApplied + ": '{}'}"
	for _, manager := range []string{"kubectl", "kubectl-client-side-apply", "kubectl-last-applied"} {
		planner := c.Planner(t, ssaplan.Options{FieldManager: manager})
		for name, row := range map[string]struct{ before, manifest *unstructured.Unstructured }{
			"annotated-":       {manifest(t, text, "annotated-"+manager, annotated, "1"), manifest(t, text, "annotated-"+manager, "", "2")},
			"new-":             {nil, manifest(t, text, "new-"+manager, "", "2")},
			"new-with-record-": {nil, manifest(t, text, "new-with-record-"+manager, annotated, "2")},
		} {
			if row.before != nil {
				c.createAs(t, fieldowner.ClientSideApply, row.before)
			}
			plan, err := planner.Plan(t.Context(), ssaplan.Request{Manifest: row.manifest})
			require.NoError(t, err, name+manager)
			made, err := planner.Apply(lab.Context(t), plan)
			require.NoError(t, err, name+manager)
			differences, err := plan.Differences(made)
			require.NoError(t, err)
			require.Empty(t, differences, name+manager)
			require.NotContains(t, made.GetAnnotations()[lastApplied], "resourceVersion", name+manager)
			for _, request := range []ssaplan.Request{{Manifest: row.manifest}, {Manifest: row.manifest, Live: made}} {
				again, err := planner.Plan(t.Context(), request)
				require.NoError(t, err, name+manager)
				require.Equal(t, ssaplan.ActionNoOp, again.Action, "%s%s: %s", name, manager, again)
			}
		}
	}
}

// Without guards in the request, an object that changed since it was planned is found by a look before the write.
func TestKubectlAfterAChange(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	planner := c.Planner(t, ssaplan.Options{FieldManager: "kubectl"})
	const text = "{apiVersion: v1, kind: ConfigMap, metadata: {name: m}, data: {a: %q}}"
	before := manifest(t, text, "1")
	before.SetAnnotations(map[string]string{lastApplied: "{}"})
	c.createAs(t, fieldowner.ClientSideApply, before)
	plan, err := planner.Plan(t.Context(), ssaplan.Request{Manifest: manifest(t, text, "2")})
	require.NoError(t, err)
	c.Patch(t, "other", before, `{"data":{"a":"3"}}`)
	_, err = planner.Apply(lab.Context(t), plan)
	var changed *ssaplan.ChangedError
	require.ErrorAs(t, err, &changed)
	c.Delete(t, before)
	_, err = planner.Apply(lab.Context(t), changed.Plan)
	require.ErrorAs(t, err, &changed)
	require.Equal(t, ssaplan.ActionCreate, changed.Plan.Action)
}
