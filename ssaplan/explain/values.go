package explain

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/projection"
)

// Equal reports whether two objects have the same JSON. If the live object and the server's answer to a dry run are
// equal, the apply would write nothing.
func Equal(a, b map[string]any) bool { return equal(a, b) }

// equal reports whether two values have the same JSON.
func equal(a, b any) bool {
	switch x := a.(type) {
	case map[string]any:
		if y, ok := b.(map[string]any); ok {
			return isShared(x, y) || (x == nil) == (y == nil) && maps.EqualFunc(x, y, equal)
		}
	case []any:
		if y, ok := b.([]any); ok {
			return (x == nil) == (y == nil) && slices.EqualFunc(x, y, equal)
		}
	case string, bool, int64, nil:
		if a == b {
			return true
		}
	}
	x, errA := json.Marshal(a)
	y, errB := json.Marshal(b)
	return errA == nil && errB == nil && string(x) == string(y)
}

// isShared reports whether both are one map in memory. The server's answer may share maps with the live object.
func isShared(a, b map[string]any) bool {
	return reflect.ValueOf(a).Pointer() == reflect.ValueOf(b).Pointer()
}

// SameVersion reports whether the answer to a dry run of the manifest has the resourceVersion of the live object. If
// live is nil, the answer must have no resourceVersion, or that of the manifest: at a create, a server ignores the
// resourceVersion of the manifest, and returns it unchanged.
func SameVersion(live, answer, manifest map[string]any) bool {
	version := func(obj map[string]any) string { return (&unstructured.Unstructured{Object: obj}).GetResourceVersion() }
	return version(answer) == version(live) || live == nil && version(answer) == version(manifest)
}

// uidOf returns the uid of an object, empty if it has none.
func uidOf(obj map[string]any) string {
	return string((&unstructured.Unstructured{Object: obj}).GetUID())
}

// isEmptyOrNull reports whether v is null, or an empty map or list.
func isEmptyOrNull(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		return len(v) == 0
	case []any:
		return len(v) == 0
	}
	return v == nil
}

// valuesAbove returns the paths above the missing fields at which obj has a value of the wrong type: the value is not
// the map or list that the path of the field needs.
func valuesAbove(obj map[string]any, fields projection.FieldSet, missing []projection.Path) projection.FieldSet {
	live := projection.NewObject(obj, fields)
	var found []projection.Path
	for _, p := range missing {
		for n := range p {
			v, _ := live.Get(p[:n])
			_, isMap := v.(map[string]any)
			_, isList := v.([]any)
			isField := p[n].Kind() == projection.FieldKind
			if v != nil && (isField && !isMap || !isField && !isList) {
				found = append(found, p[:n])
			}
		}
	}
	return projection.NewFieldSet(found...)
}
