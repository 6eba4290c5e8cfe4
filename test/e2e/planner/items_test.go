package planner_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/test/lab"
)

// deploymentWith returns a Deployment with containers, given as YAML.
func deploymentWith(t *testing.T, name, containers string) *unstructured.Unstructured {
	t.Helper()
	return manifest(t, `{apiVersion: apps/v1, kind: Deployment, metadata: {name: %s}, spec: {selector: {matchLabels: {a: b}},
		template: {metadata: {labels: {a: b}}, spec: {containers: [%s]}}}}`, name, containers)
}

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

// An item that comes brings what admission puts into it, at its own path; the defaults are no news. Each row's items
// have every field of their kind that has a default.
func TestItemsThatCome(t *testing.T) {
	c := newCluster(t)
	const probe = `{httpGet: {port: 80}}`
	for _, row := range []struct{ why, before, after, name string }{
		{"a container", "{name: a, image: a}", "{name: a, image: a}, {name: b, image: 'b:1', livenessProbe: " + probe + ", readinessProbe: " + probe +
			", startupProbe: " + probe + ", lifecycle: {preStop: {httpGet: {port: 80}}}, ports: [{containerPort: 1}]," +
			" env: [{name: A, valueFrom: {fieldRef: {fieldPath: metadata.name}}}, {name: B, valueFrom: {resourceFieldRef: {resource: limits.cpu}}}]}", "come"},
	} {
		c.apply(t, deploymentWith(t, row.name, row.before))
		plan := c.plan(t, ssaplan.Request{Manifest: deploymentWith(t, row.name, row.after)})
		require.Len(t, plan.Changes, 1, "%s: %v", row.why, plan.Changes)
	}
	podSpec := func(volumes string) *unstructured.Unstructured {
		return manifest(t, `{apiVersion: apps/v1, kind: Deployment, metadata: {name: volumes}, spec: {selector: {matchLabels: {a: b}},
			template: {metadata: {labels: {a: b}}, spec: {containers: [{name: a, image: a}], volumes: [%s]}}}}`, volumes)
	}
	c.apply(t, podSpec("{name: a, emptyDir: {}}"))
	plan := c.plan(t, ssaplan.Request{Manifest: podSpec(`{name: a, emptyDir: {}}, {name: b, configMap: {name: b}}, {name: c, secret: {secretName: c}},
		{name: d, downwardAPI: {items: [{path: a, fieldRef: {fieldPath: metadata.name}}]}}, {name: e, projected: {sources: [{secret: {name: e}}]}},
		{name: f, hostPath: {path: /f}}, {name: g}, {name: h, ephemeral: {volumeClaimTemplate: {spec: {accessModes: [ReadWriteOnce],
		resources: {requests: {storage: 1Gi}}}}}}, {name: i, iscsi: {targetPortal: a, iqn: 'iqn.2026-01.io.ex:a', lun: 0}}`)})
	require.Len(t, plan.Changes, 8, "%v", plan.Changes)

	service := func(ports string) *unstructured.Unstructured {
		return manifest(t, `{apiVersion: v1, kind: Service, metadata: {name: come}, spec: {clusterIP: None, ports: [%s]}}`, ports)
	}
	c.apply(t, service("{name: a, port: 80}"))
	plan = c.plan(t, ssaplan.Request{Manifest: service("{name: a, port: 80}, {name: b, port: 81}")})
	require.Len(t, plan.Changes, 1, "%v", plan.Changes)

	webhooks := func(hooks string) *unstructured.Unstructured {
		return manifest(t, `{apiVersion: admissionregistration.k8s.io/v1, kind: MutatingWebhookConfiguration, metadata: {name: items-that-come},
			webhooks: [%s]}`, hooks)
	}
	hook := "{name: %s.ex.io, admissionReviewVersions: [v1], sideEffects: None, clientConfig: {service: {name: a, namespace: none}}, rules: [{apiGroups: [none.ex.io]," +
		" apiVersions: [v1], operations: [CREATE], resources: [none]}]}"
	c.apply(t, webhooks(fmt.Sprintf(hook, "a")))
	t.Cleanup(func() { c.Delete(t, webhooks("")) })
	plan = c.plan(t, ssaplan.Request{Manifest: webhooks(fmt.Sprintf(hook, "a") + ", " + fmt.Sprintf(hook, "b"))})
	require.Len(t, plan.Changes, 1, "%v", plan.Changes)
}

// A policy that makes new containers privileged is seen before it does.
func TestPoliciesOnNewItems(t *testing.T) {
	c := newCluster(t)
	name := "privileged-" + c.Namespace
	for _, obj := range lab.Objects(t, fmt.Sprintf(`
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: {name: %[1]s}
spec:
  failurePolicy: Fail
  reinvocationPolicy: Never
  matchConstraints:
    namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: %[2]s}}
    resourceRules: [{apiGroups: [apps], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [deployments]}]
  mutations:
  - patchType: ApplyConfiguration
    applyConfiguration:
      expression: >
        Object{spec: Object.spec{template: Object.spec.template{spec: Object.spec.template.spec{
        containers: object.spec.template.spec.containers.filter(c, c.name == "side").map(c, Object.spec.template.spec.containers{
        name: c.name, securityContext: Object.spec.template.spec.containers.securityContext{privileged: true}})}}}}
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicyBinding
metadata: {name: %[1]s}
spec: {policyName: %[1]s}
`, name, c.Namespace)) {
		c.apply(t, obj)
		t.Cleanup(func() { c.Delete(t, obj) })
	}
	c.apply(t, deploymentWith(t, "sidecar", "{name: app, image: 'a:1'}"))
	const privileged = `spec.template.spec.containers[name="side"].securityContext.privileged: + true (side effect of the server)`
	lab.Eventually(t, "the policy to be in force", func() bool {
		plan := c.plan(t, ssaplan.Request{Manifest: deploymentWith(t, "sidecar", "{name: app, image: 'a:1'}, {name: side, image: 'b:1'}")})
		require.Equal(t, `spec.template.spec.containers[name="side"]: + {"image":"b:1","name":"side"} (edited or changed by others)`, lines(plan)[0])
		return len(plan.Changes) == 2 && lines(plan)[1] == privileged
	})
}
