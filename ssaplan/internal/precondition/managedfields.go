package precondition

import (
	"maps"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// WithoutManagedFields returns a copy of an object without its managedFields. The copy is shallow but for the metadata.
func WithoutManagedFields(obj *unstructured.Unstructured) map[string]any {
	bare := maps.Clone(obj.Object)
	metadata, _ := bare["metadata"].(map[string]any)
	metadata = maps.Clone(metadata)
	delete(metadata, "managedFields")
	bare["metadata"] = metadata
	return bare
}
