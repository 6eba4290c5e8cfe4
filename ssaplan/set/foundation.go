package set

import (
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
