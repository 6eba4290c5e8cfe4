package planner_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/identity/importid"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/test/lab"
)

// TestImport imports what a manager applied, by each form of an ID, and goes on under its name: nothing changes.
func TestImport(t *testing.T) {
	c := newCluster(t)
	const widget = "{apiVersion: example.com/v1, kind: Widget, metadata: {name: imported}, spec: {color: red}}"
	for _, row := range []struct{ manifest, id string }{
		{"{apiVersion: v1, kind: ConfigMap, metadata: {name: imported}, data: {a: A}}", c.Namespace + "/ConfigMap/imported"},
		{"{apiVersion: apps/v1, kind: Deployment, metadata: {name: imported}, spec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: i}]}}}}", c.Namespace + "/Deployment/imported"},
		{"{apiVersion: batch/v1, kind: CronJob, metadata: {name: imported}, spec: {schedule: \"0 0 * * *\", jobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}}}}}", c.Namespace + "/CronJob.batch/imported"},
		{"{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: imported}, spec: {defaultBackend: {service: {name: a, port: {number: 80}}}}}", c.Namespace + "/Ingress/imported"},
		{"{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: " + c.Namespace + "}, rules: [{apiGroups: [\"\"], resources: [pods], verbs: [get]}]}", "ClusterRole/" + c.Namespace},
		{"{apiVersion: v1, kind: Namespace, metadata: {name: " + c.Namespace + "-2, labels: {a: b}}}", "/v1/Namespace/" + c.Namespace + "-2"},
		{widget, c.Namespace + "/Widget/imported"},
		{widget, c.Namespace + "/Widget.example.com/imported"},
	} {
		t.Run(row.id, func(t *testing.T) {
			applied := c.Apply(t, "helm", lab.Object(t, row.manifest))
			id, err := importid.Parse(row.id + "?manager=helm")
			require.NoError(t, err)
			imported, err := c.planner.Import(t.Context(), id)
			require.NoError(t, err)
			require.Equal(t, applied.Object, imported.Live.Object)
			require.Equal(t, applied.GetUID(), imported.Live.GetUID())
			require.Equal(t, string(applied.GetUID()), imported.State.UID)
			require.Equal(t, "helm", imported.State.Manager)

			helm := c.Planner(t, ssaplan.Options{FieldManager: "helm"})
			plan, err := helm.Plan(t.Context(), ssaplan.Request{Manifest: &unstructured.Unstructured{Object: imported.Manifest.Object}, Prior: imported.State})
			require.NoError(t, err)
			require.Equal(t, ssaplan.ActionNoOp, plan.Action, plan.Reason)

			reading, err := c.planner.Read(t.Context(), imported.State)
			require.NoError(t, err)
			require.Equal(t, ssaplan.PresenceFound, reading.Presence)
			require.Empty(t, reading.Drift)
		})
	}
}
