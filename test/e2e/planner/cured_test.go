package planner_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/test/controlplane"
	"github.com/ssaplan/primitives/test/lab"
)

// TestAdoptionCures are manifests that a server refuses because of what client-side apply left in the object. The error
// says so, and with the adoption the object becomes what kubectl apply --server-side makes of its twin, which has to be
// migrated before: kubectl itself migrates only after an apply, and fails.
func TestAdoptionCures(t *testing.T) {
	c, twins := newCluster(t), lab.On(t, controlplane.Shared(t))
	for _, row := range []struct{ name, was, is string }{
		{
			"handler", deploymentOf("", "image: a, livenessProbe: {httpGet: {path: /, port: 80}}", ""),
			deploymentOf("", "image: a, livenessProbe: {tcpSocket: {port: 80}}", ""),
		},
		{
			"env", deploymentOf("", "image: a, env: [{name: E, value: x}, {name: F, value: w}]", ""),
			deploymentOf("", "image: b, env: [{name: G, value: z}, {name: E, valueFrom: {fieldRef: {fieldPath: metadata.name}}}]", ""),
		},
		{
			"strategy", deploymentOf("strategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 2}}", "image: a", ", {name: side, image: s}"),
			deploymentOf("strategy: {type: Recreate}", "image: a, ports: [{containerPort: 80}]", ", {name: new, image: m}"),
		},
		{"default-strategy", deploymentOf("", "image: a", ""), deploymentOf("strategy: {type: Recreate}", "image: a", "")},
		{
			"volume", deploymentOf("", "image: a", "], volumes: [{name: v, emptyDir: {}}"),
			deploymentOf("", "image: a", "], volumes: [{name: v, hostPath: {path: /x}}"),
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			text := func(body string) *unstructured.Unstructured {
				m := lab.Object(t, body)
				m.SetName("cured-" + row.name)
				return m
			}
			for _, cluster := range []*lab.Cluster{c.Cluster, twins} {
				cluster.Kubectl(t, jsonOf(t, text(row.was)), "apply", "-f", "-")
			}
			migration, err := fieldowner.Migrate(twins.Get(t, text(row.is)).Object, manager, fieldowner.ClientSideApply)
			require.NoError(t, err)
			patch, err := migration.Patch()
			require.NoError(t, err)
			_, err = twins.Resource(t, text(row.is)).Patch(t.Context(), text(row.is).GetName(), types.JSONPatchType, patch, metav1.PatchOptions{FieldManager: manager})
			require.NoError(t, err)
			twins.Kubectl(t, jsonOf(t, text(row.is)), "apply", "--server-side", "--force-conflicts", "--field-manager", manager, "-f", "-")
			_, err = c.planner.Plan(t.Context(), ssaplan.Request{Manifest: text(row.is)})
			require.ErrorContains(t, err, `adopt the fields of "kubectl-client-side-apply"`)
			_, err = c.planner.Plan(t.Context(), ssaplan.Request{Manifest: text(row.is), Adopt: []string{"somebody"}})
			require.ErrorContains(t, err, `adopt the fields of "kubectl-client-side-apply"`)

			plan := c.plan(t, ssaplan.Request{Manifest: text(row.is), Adopt: []string{fieldowner.ClientSideApply}})
			require.Equal(t, ssaplan.ActionUpdate, plan.Action)
			foretold := plan.Result()
			after, err := c.planner.Apply(t.Context(), plan)
			require.NoError(t, err)
			require.Equal(t, alike(t, foretold), alike(t, after))
			require.Equal(t, alike(t, twins.Get(t, text(row.is))), alike(t, after), "as kubectl makes it")
		})
	}
}
