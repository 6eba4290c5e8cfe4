package immutability

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/projection"
)

// createBody is the manifest as it would be created after the delete. What only one object can have, and the live one
// has, is left out: it is free once that is gone, but a dry run finds it taken.
func createBody(manifest, live *unstructured.Unstructured) *unstructured.Unstructured {
	body := manifest.DeepCopy()
	for _, field := range []string{"uid", "resourceVersion", "managedFields"} {
		unstructured.RemoveNestedField(body.Object, "metadata", field)
	}
	switch body.GroupVersionKind().GroupKind().String() {
	case "Service":
		dropHeldPorts(serviceSpec(body), serviceSpec(live))
	case "PriorityClass.scheduling.k8s.io":
		if live.Object["globalDefault"] == true {
			delete(body.Object, "globalDefault")
		}
	}
	return body
}

// updateBody is the manifest as a replacement of this very live object: custom resources need the resourceVersion, and
// the uid keeps the answer from being about a successor.
func updateBody(manifest, live *unstructured.Unstructured) *unstructured.Unstructured {
	body := manifest.DeepCopy()
	unstructured.RemoveNestedField(body.Object, "metadata", "managedFields")
	body.SetResourceVersion(live.GetResourceVersion())
	body.SetUID(live.GetUID())
	return body
}

// mergedBody is the live object with the manifest merged into it in the way of a merge patch: what only others have set
// stays, but lists, and the maps that the causes are in, become those of the manifest.
func mergedBody(manifest, live *unstructured.Unstructured, causes []cause) *unstructured.Unstructured {
	body := updateBody(live, live)
	whole := func(at string) bool {
		return slices.ContainsFunc(causes, func(c cause) bool { return at == parent(c.Pattern()) })
	}
	mergeInto(body.Object, manifest.DeepCopy().Object, "", whole)
	return body
}

// mergeInto merges from into to, both at the path at. It keeps maps of from.
func mergeInto(to, from map[string]any, at string, whole func(at string) bool) {
	for key, value := range from {
		below := patternBelow(at, projection.Field(key))
		old, both := to[key].(map[string]any)
		added, isMap := value.(map[string]any)
		if both && isMap && !whole(below) {
			mergeInto(old, added, below, whole)
		} else {
			to[key] = value
		}
	}
}
