package proof_test

import (
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/ssaplan/explain"
	"github.com/ssaplan/primitives/test/lab"
)

// policyHook is the label of objects that the admission policies are about. Some change items that are as somebody
// declared them, by the two ways of writing a policy; others deny, or warn of, an annotation.
const policyHook = "proof.example.com/policy"

const denyingPolicies = `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: proof-deny}
spec:
  matchConstraints:
    objectSelector: {matchExpressions: [{key: proof.example.com/policy, operator: Exists}]}
    resourceRules: [{apiGroups: ["*"], apiVersions: ["*"], operations: [CREATE, UPDATE], resources: ["*"]}]
  validations:
  - expression: "!has(object.metadata.annotations) || !('note' in object.metadata.annotations)"
    message: no notes here
  - expression: "oldObject == null || !has(object.metadata.labels.tier) || !has(oldObject.metadata.labels) ||
      !has(oldObject.metadata.labels.tier) || object.metadata.labels.tier == oldObject.metadata.labels.tier"
    message: the tier is for ever
    reason: Forbidden
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: proof-deny}
spec: {policyName: proof-deny, validationActions: [Deny]}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: proof-warn}
spec:
  matchConstraints:
    objectSelector: {matchExpressions: [{key: proof.example.com/policy, operator: Exists}]}
    resourceRules: [{apiGroups: ["*"], apiVersions: ["*"], operations: [CREATE, UPDATE], resources: ["*"]}]
  validations:
  - expression: "!has(object.metadata.annotations) || !('a.b/c' in object.metadata.annotations)"
    message: better without a.b/c
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: proof-warn}
spec: {policyName: proof-warn, validationActions: [Warn, Audit]}
`

const mutatingPolicies = `
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: {name: proof-containers}
spec:
  failurePolicy: Fail
  reinvocationPolicy: Never
  matchConstraints:
    objectSelector: {matchExpressions: [{key: proof.example.com/policy, operator: Exists}]}
    resourceRules: [{apiGroups: [apps], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [deployments, daemonsets, statefulsets, replicasets]}]
  mutations:
  - patchType: ApplyConfiguration
    applyConfiguration:
      expression: >
        Object{spec: Object.spec{template: Object.spec.template{spec: Object.spec.template.spec{
        containers: object.spec.template.spec.containers.filter(c, !has(c.securityContext)).map(c, Object.spec.template.spec.containers{
        name: c.name, securityContext: Object.spec.template.spec.containers.securityContext{runAsNonRoot: true}})}}}}
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicyBinding
metadata: {name: proof-containers}
spec: {policyName: proof-containers}
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: {name: proof-ports}
spec:
  failurePolicy: Fail
  reinvocationPolicy: IfNeeded
  matchConstraints:
    objectSelector: {matchExpressions: [{key: proof.example.com/policy, operator: Exists}]}
    resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [services]}]
  matchConditions:
  - {name: ports, expression: "has(object.spec.ports) && size(object.spec.ports) > 0 && !has(object.spec.ports[0].appProtocol)"}
  mutations:
  - patchType: JSONPatch
    jsonPatch:
      expression: >
        [JSONPatch{op: "add", path: "/spec/ports/0/appProtocol", value: "example.com/policy"}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicyBinding
metadata: {name: proof-ports}
spec: {policyName: proof-ports}
`

// installPolicies waits until the policies are in force. Older servers have none that change anything.
func (c *cluster) installPolicies(t *testing.T) {
	text := denyingPolicies
	if c.servesPolicies() {
		text += "---" + mutatingPolicies
	}
	for _, obj := range lab.Objects(t, text) {
		c.Apply(t, installer, obj)
	}
	denied := lab.Object(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: denied, namespace: proof-configmap, "+
		"labels: {proof.example.com/policy: 'on'}, annotations: {note: x}}}")
	c.makeNamespace(t, "Service")
	changed := lab.Object(t, "{apiVersion: v1, kind: Service, metadata: {name: changed, namespace: proof-service, "+
		"labels: {proof.example.com/policy: 'on'}}, spec: {clusterIP: None, ports: [{port: 80}]}}")
	lab.Eventually(t, "the policies are in force", func() bool {
		if c.tryCreate(t.Context(), denied.Object) == nil {
			return false
		}
		options := metav1.PatchOptions{FieldManager: installer, DryRun: []string{metav1.DryRunAll}}
		obj, err := c.TryApply(t, changed, options)
		return err == nil && (!c.servesPolicies() || isChangedByPolicy(obj))
	})
}

func (c *cluster) servesPolicies() bool {
	found, err := c.Discovery.ServerResourcesForGroupVersion("admissionregistration.k8s.io/v1")
	return err == nil && slices.ContainsFunc(found.APIResources, func(r metav1.APIResource) bool { return r.Name == "mutatingadmissionpolicies" })
}

func isChangedByPolicy(service *unstructured.Unstructured) bool {
	v, _ := lookup(service.Object, place{"spec", "ports", 0, "appProtocol"})
	return v == "example.com/policy"
}

// isOfPolicy reports whether a change is what a policy put into an item.
func isOfPolicy(c explain.Change) bool {
	return c.Cause == explain.CauseSideEffect && c.Op == projection.OpAdd &&
		(strings.HasSuffix(c.Path.String(), "].securityContext.runAsNonRoot") || c.After == "example.com/policy")
}
