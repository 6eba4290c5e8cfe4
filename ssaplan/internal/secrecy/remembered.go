package secrecy

import (
	"maps"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/identity"
)

// Remembered returns a stand-in for an object that wasn't read. It has the apiVersion and the kind of the identity, and
// the fields that the caller remembers.
func Remembered(id identity.Identity, fields map[string]any) *unstructured.Unstructured {
	obj := maps.Clone(fields)
	if obj == nil {
		obj = map[string]any{}
	}
	obj["apiVersion"], obj["kind"] = id.APIVersion, id.Kind
	return &unstructured.Unstructured{Object: obj}
}
