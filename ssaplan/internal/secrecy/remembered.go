package secrecy

import (
	"maps"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/identity"
)

// Remembered returns what is known of an object that isn't there to be looked at, with the fields that are remembered
// of it.
func Remembered(id identity.Identity, fields map[string]any) *unstructured.Unstructured {
	obj := maps.Clone(fields)
	if obj == nil {
		obj = map[string]any{}
	}
	obj["apiVersion"], obj["kind"] = id.APIVersion, id.Kind
	return &unstructured.Unstructured{Object: obj}
}
