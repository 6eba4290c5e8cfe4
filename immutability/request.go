package immutability

import "k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

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
