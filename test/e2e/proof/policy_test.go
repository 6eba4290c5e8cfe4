package proof_test

import (
	_ "embed"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/ssaplan/explain"
	"github.com/ssaplan/primitives/test/lab"
)

// policyHook is the label of objects that the admission policies select. Some policies change declared items of lists,
// by an apply configuration or a JSON patch. Others deny an annotation, or warn of it.
const policyHook = "proof.example.com/policy"

var (
	//go:embed testdata/denyingpolicies.yaml
	denyingPolicies string

	//go:embed testdata/mutatingpolicies.yaml
	mutatingPolicies string
)

// installPolicies waits until the policies are in force. Older servers have none that change anything.
func (c *cluster) installPolicies(t *testing.T) {
	text := denyingPolicies
	if c.servesPolicies() {
		text += "---\n" + mutatingPolicies
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
