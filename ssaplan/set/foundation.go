package set

import (
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// isFoundation reports whether other objects of a set can't exist before an object can be used.
func isFoundation(obj *unstructured.Unstructured) bool {
	return isDefinition(obj) || groupKind(obj) == schema.GroupKind{Kind: "Namespace"}
}

// unusable returns why a namespace or a definition can't be used, empty if it can.
func unusable(live *unstructured.Unstructured) string {
	switch {
	case live == nil:
		return "it isn't there"
	case live.GetDeletionTimestamp() != nil:
		return "it is being deleted"
	case isDefinition(live) && !hasCondition(live, "Established"):
		return "it isn't Established yet"
	}
	if phase, _, _ := unstructured.NestedString(live.Object, "status", "phase"); !isDefinition(live) && phase != "Active" {
		return "it isn't Active yet"
	}
	return ""
}

func hasCondition(obj *unstructured.Unstructured, name string) bool {
	conditions, _, _ := unstructured.NestedSlice(obj.Object, "status", "conditions")
	for _, condition := range conditions {
		content, isMap := condition.(map[string]any)
		if isMap && content["type"] == name && content["status"] == "True" {
			return true
		}
	}
	return false
}

// How long it takes until a server heeds what it has stored about admission. It doesn't say that it does: it watches webhooks, which took up to 40 ms on a
// busy server, and looks whether policies have changed once in a second (policyRefreshInterval in k8s.io/apiserver).
const (
	webhooksUnheeded = 200 * time.Millisecond
	policiesUnheeded = 1500 * time.Millisecond
)

// unheeded returns for how long an object may have no effect on the admission of others after it was written.
func unheeded(obj *unstructured.Unstructured) time.Duration {
	switch kind := groupKind(obj); {
	case kind.Group != admissionGroup:
		return 0
	case kind.Kind == "MutatingWebhookConfiguration" || kind.Kind == "ValidatingWebhookConfiguration":
		return webhooksUnheeded
	}
	return policiesUnheeded
}
