package immutability_test

import (
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/test/lab"
)

func admission() []pair {
	return []pair{
		policyPair("policy-update", `object.data.a == oldObject.data.a, message: "data.a: Invalid value: field is immutable"`,
			pair{before: editable, edit: []string{`data.a="2"`}}),
		policyPair("policy-update-forbidden", `object.data.a == oldObject.data.a, reason: Forbidden, message: immutable`,
			pair{before: editable, edit: []string{`data.a="2"`}}),
		policyPair("policy-update-without-message", `object.spec == oldObject.spec`,
			pair{before: widget, edit: []string{"spec.mode=fast"}}),
		webhookPair("webhook-forged", forgedSelectorStatus,
			pair{before: deployment, edit: []string{"spec.replicas=3"}}),
		webhookPair("webhook-forged-custom", metav1.Status{Code: 422, Reason: metav1.StatusReasonInvalid, Message: "spec.own: Invalid value: is immutable",
			Details: &metav1.StatusDetails{Group: "example.com", Kind: "Widget", Causes: []metav1.StatusCause{
				{Type: metav1.CauseTypeFieldValueInvalid, Field: "spec.own", Message: `Invalid value: "b": field is immutable`}}}},
			pair{before: widget, edit: []string{"spec.mode=fast"}}),
		webhookPair("webhook-forbidden", metav1.Status{Code: 403, Reason: metav1.StatusReasonForbidden, Message: "this field is immutable"},
			pair{before: editable, edit: []string{`data.a="2"`}}),
		guarded("claim-grow-not-expandable", pair{before: boundClaim, edit: []string{"spec.resources.requests.storage=6Gi"}},
			func(t *testing.T, c *cluster, claim *unstructured.Unstructured) (remove func()) {
				bind(t, c, claim)
				class := lab.Object(t, "{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: fixed}}")
				return func() { c.patch(t, class, `{"allowVolumeExpansion":true}`) }
			}),
	}
}

// forgedSelectorStatus is what the API server answers to a changed selector.
var forgedSelectorStatus = metav1.Status{
	Status: metav1.StatusFailure, Code: 422, Reason: metav1.StatusReasonInvalid,
	Message: `Deployment.apps "webhook-forged" is invalid: spec.selector: Invalid value: {"matchLabels":{"app":"b"}}: field is immutable`,
	Details: &metav1.StatusDetails{Group: "apps", Kind: "Deployment", Name: "webhook-forged", Causes: []metav1.StatusCause{{
		Type: metav1.CauseTypeFieldValueInvalid, Field: "spec.selector",
		Message: `Invalid value: {"matchLabels":{"app":"b"}}: field is immutable`,
	}}},
}

// policyPair adds a ValidatingAdmissionPolicy on UPDATE to the pair. validation is an expression, and what follows it
// in the policy.
func policyPair(name, validation string, p pair) pair {
	return guarded(name, p, func(t *testing.T, c *cluster, _ *unstructured.Unstructured) func() {
		return c.installPolicy(t, name, "UPDATE", validation)
	})
}

func (c *cluster) installPolicy(t *testing.T, name, operation, validation string) (remove func()) {
	t.Helper()
	return c.install(t, fmt.Sprintf(`
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: %[1]s}
spec:
  failurePolicy: Fail
  matchConstraints:
    objectSelector: {matchLabels: {guarded: %[1]s}}
    resourceRules: [{apiGroups: ["*"], apiVersions: ["*"], operations: [%[2]s], resources: ["*"]}]
  validations: [{expression: %[3]s}]
`, name, operation, validation), fmt.Sprintf(`
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: %[1]s}
spec: {policyName: %[1]s, validationActions: [Deny]}
`, name))
}

// webhookPair adds a webhook on UPDATE to the pair, which denies everything with the status.
func webhookPair(name string, status metav1.Status, p pair) pair {
	return guarded(name, p, func(t *testing.T, c *cluster, _ *unstructured.Unstructured) func() {
		server := httptest.NewTLSServer(denyWith(status))
		t.Cleanup(server.Close)
		return c.install(t, webhookConfiguration(name, "UPDATE", server))
	})
}

func webhookConfiguration(name, operation string, server *httptest.Server) string {
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	return fmt.Sprintf(`
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: %[1]s}
webhooks:
- name: guard.example.com
  admissionReviewVersions: [v1]
  sideEffects: None
  objectSelector: {matchLabels: {guarded: %[1]s}}
  rules: [{apiGroups: ["*"], apiVersions: ["*"], operations: [%[2]s], resources: ["*"]}]
  clientConfig: {url: %[3]q, caBundle: %[4]s}
`, name, operation, server.URL, base64.StdEncoding.EncodeToString(ca))
}

// denyWith answers every admission review with the status.
func denyWith(status metav1.Status) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var review map[string]any
		if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		uid, _, _ := unstructured.NestedString(review, "request", "uid")
		_ = json.NewEncoder(w).Encode(map[string]any{
			"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
			"response": map[string]any{"uid": uid, "allowed": false, "status": status},
		})
	}
}

// guarded labels the pair's object, so that the guard concerns no other, and installs the guard before the edit.
func guarded(name string, p pair, install func(*testing.T, *cluster, *unstructured.Unstructured) (remove func())) pair {
	p.name, p.truth = name, policy
	p.label = map[string]string{"guarded": name}
	var remove func()
	accepted := func(t *testing.T, c *cluster) bool {
		_, after := p.manifests(t)
		_, err := c.tryApply(t, after, metav1.DryRunAll)
		return err == nil
	}
	p.prepare = func(t *testing.T, c *cluster, live *unstructured.Unstructured) {
		remove = install(t, c, live)
		lab.Eventually(t, "the guard refuses the edit", func() bool { return !accepted(t, c) })
	}
	p.lift = func(t *testing.T, c *cluster, without func()) {
		remove()
		lab.Eventually(t, "the guard is gone", func() bool { return accepted(t, c) })
		without()
	}
	return p
}

// install applies objects, and returns a function that deletes them.
func (c *cluster) install(t *testing.T, texts ...string) (remove func()) {
	t.Helper()
	for _, text := range texts {
		c.apply(t, lab.Object(t, text))
	}
	return func() {
		for _, text := range texts {
			c.delete(t, lab.Object(t, text))
		}
	}
}
