package handover

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/projection"
)

type operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value *any   `json:"value,omitempty"` // nil in a removal
}

// contentPatch returns the JSON patch that makes the live object, in its version, the wanted one, but for what the
// server keeps of an object.
func contentPatch(live *unstructured.Unstructured, wanted map[string]any) ([]byte, error) {
	// As in a handover, a server answers 409 if the object is of another version by then.
	var version any = live.GetResourceVersion()
	operations := []operation{{"replace", "/metadata/resourceVersion", &version}}
	differing := func(at string, live, wanted map[string]any, differs func(name string) bool) {
		names := map[string]any{}
		maps.Copy(names, live)
		maps.Copy(names, wanted)
		for _, name := range slices.Sorted(maps.Keys(names)) {
			value, exists := wanted[name]
			pointer, _ := projection.Pointer(names, projection.Path{projection.Field(name)})
			switch _, had := live[name]; {
			case !differs(name) || exists == had && reflect.DeepEqual(live[name], value):
			case exists:
				operations = append(operations, operation{"add", at + pointer, &value})
			default:
				operations = append(operations, operation{Op: "remove", Path: at + pointer})
			}
		}
	}
	differing("", live.Object, wanted, func(name string) bool {
		return !slices.Contains([]string{"apiVersion", "kind", "metadata"}, name)
	})
	metadata := func(obj map[string]any) map[string]any { m, _ := obj["metadata"].(map[string]any); return m }
	differing("/metadata", metadata(live.Object), metadata(wanted), func(name string) bool {
		return slices.Contains([]string{"annotations", "finalizers", "generateName", "labels", "ownerReferences"}, name)
	})
	return json.Marshal(operations)
}
