package handover

import "k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

// Server is where the apply is tried.
type Server struct {
	// HandOver tries the JSON patch by which fields change owners.
	HandOver func(patch []byte) (*unstructured.Unstructured, error)
	// Apply tries the apply of a body to the object as it is.
	Apply func(body []byte) (*unstructured.Unstructured, error)
	// Force does what Apply does by force.
	Force func(body []byte) (*unstructured.Unstructured, error)
	// Patch tries a JSON patch of the object.
	Patch func(patch []byte) (*unstructured.Unstructured, error)
	// Create tries to make another object of a manifest.
	Create func(manifest map[string]any) (*unstructured.Unstructured, error)
	// Forced says that Apply takes fields from others.
	Forced bool
}
