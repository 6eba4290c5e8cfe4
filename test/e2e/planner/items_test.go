package planner_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/ssaplan/primitives/ssaplan"
)

// lines returns what changes and who loses what, a line each.
func lines(plan *ssaplan.Plan) (out []string) {
	for _, change := range plan.Changes {
		out = append(out, change.String())
	}
	for _, transfer := range plan.Ownership {
		out = append(out, transfer.String())
	}
	return out
}

// merge sends a strategic merge patch, which finds items of lists by key.
func (c *cluster) merge(t *testing.T, manager string, obj *unstructured.Unstructured, patch string) {
	t.Helper()
	_, err := c.Resource(t, obj).Patch(t.Context(), obj.GetName(), types.StrategicMergePatchType, []byte(patch),
		metav1.PatchOptions{FieldManager: manager})
	require.NoError(t, err)
}

// The defaults of an item that comes are no changes of their own. Each row's items have every field of their kind that
// has a default.
func TestItemsThatCome(t *testing.T) {
	c := newCluster(t)
	const probe = `{httpGet: {port: 80}}`
	const pods = `{apiVersion: apps/v1, kind: Deployment, metadata: {name: %s}, spec: {selector: {matchLabels: {a: b}},
		template: {metadata: {labels: {a: b}}, spec: {containers: [{name: a, image: a}%s]%s}}}}`
	const hook = `{name: %s.ex.io, admissionReviewVersions: [v1], sideEffects: None,
		clientConfig: {service: {name: a, namespace: none}},
		rules: [{apiGroups: [none.ex.io], apiVersions: [v1], operations: [CREATE], resources: [none]}]}`
	const hooks = `{apiVersion: admissionregistration.k8s.io/v1, kind: MutatingWebhookConfiguration,
		metadata: {name: items-that-come}, webhooks: [` + hook + `%s]}`
	const service = `{apiVersion: v1, kind: Service, metadata: {name: come},
		spec: {clusterIP: None, ports: [{name: a, port: 80}%s]}}`
	for _, row := range []struct {
		why           string
		before, after *unstructured.Unstructured
		changes       int
	}{
		{"a container", manifest(t, pods, "come", "", ""), manifest(t, pods, "come", `, {name: b, image: 'b:1',
			livenessProbe: `+probe+`, readinessProbe: `+probe+`, startupProbe: `+probe+`, ports: [{containerPort: 1}],
			lifecycle: {preStop: {httpGet: {port: 80}}}, env: [{name: A, valueFrom: {fieldRef: {fieldPath: metadata.name}}},
			{name: B, valueFrom: {resourceFieldRef: {resource: limits.cpu}}}]}`, ""), 1},
		{"volumes", manifest(t, pods, "volumes", "", ", volumes: [{name: a, emptyDir: {}}]"), manifest(t, pods, "volumes", "", `,
			volumes: [{name: a, emptyDir: {}}, {name: b, configMap: {name: b}}, {name: c, secret: {secretName: c}},
			{name: d, downwardAPI: {items: [{path: a, fieldRef: {fieldPath: metadata.name}}]}},
			{name: e, projected: {sources: [{secret: {name: e}}]}}, {name: f, hostPath: {path: /f}}, {name: g},
			{name: h, ephemeral: {volumeClaimTemplate: {spec: {accessModes: [ReadWriteOnce],
			resources: {requests: {storage: 1Gi}}}}}}, {name: i, iscsi: {targetPortal: a, iqn: 'iqn.2026-01.io.ex:a', lun: 0}}]`), 8},
		{"a port", manifest(t, service, ""), manifest(t, service, ", {name: b, port: 81}"), 1},
		{"a webhook", manifest(t, hooks, "a", ""), manifest(t, hooks, "a", ", "+fmt.Sprintf(hook, "b")), 1},
	} {
		c.apply(t, row.before)
		t.Cleanup(func() { c.Delete(t, row.before) }) // webhooks are in no namespace
		plan := c.plan(t, ssaplan.Request{Manifest: row.after})
		require.Len(t, plan.Changes, row.changes, "%s: %v", row.why, plan.Changes)
	}
}
