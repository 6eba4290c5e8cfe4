package set

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/ssaplan/primitives/internal/kinds"
	"github.com/ssaplan/primitives/projection/foreign"
)

func groupKind(obj *unstructured.Unstructured) schema.GroupKind {
	return obj.GroupVersionKind().GroupKind()
}

func isDefinition(obj *unstructured.Unstructured) bool { return kinds.IsDefinition(obj.Object) }

// isFoundation reports whether an object is a CRD or a namespace, without which other objects can't exist.
func isFoundation(obj *unstructured.Unstructured) bool {
	return isDefinition(obj) || kinds.IsNamespace(obj.Object)
}

// unusable returns why a namespace or a CRD can't be used, empty if it can.
func unusable(live *unstructured.Unstructured) string {
	switch {
	case live == nil:
		return "it doesn't exist"
	case live.GetDeletionTimestamp() != nil:
		return "it is being deleted"
	case isDefinition(live) && condition(live, "Established")["status"] != "True":
		return "it isn't Established yet" + because(condition(live, "Established"))
	}
	if phase, _, _ := unstructured.NestedString(live.Object, "status", "phase"); !isDefinition(live) &&
		phase != "Active" {
		return "it isn't Active yet"
	}
	return ""
}

// waitsForCA reports whether a CRD can't be used until a controller gives its conversion webhook a CA bundle. The
// controller may be in a later stage of the set.
func waitsForCA(live *unstructured.Unstructured) bool {
	return live != nil && isDefinition(live) && condition(live, "Established")["reason"] == "InvalidCABundle"
}

// condition returns a condition of an object, nil if it has none of that name.
func condition(obj *unstructured.Unstructured, name string) map[string]any {
	conditions, _, _ := unstructured.NestedSlice(obj.Object, "status", "conditions")
	for _, condition := range conditions {
		if content, isMap := condition.(map[string]any); isMap && content["type"] == name {
			return content
		}
	}
	return nil
}

// because returns the reason and the message of a condition, each after a colon, as far as it has them.
func because(condition map[string]any) (text string) {
	for _, name := range []string{"reason", "message"} {
		if value, _ := condition[name].(string); value != "" {
			text += ": " + foreign.Text(value).String()
		}
	}
	return text
}
