package ssaplantest

import (
	"fmt"
	"net/http"
	"reflect"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/ssaplan/primitives/projection"
)

// merged returns the object with the patch of the request applied. It changes object.
func (c *call) merged(object, patch map[string]any) (map[string]any, error) {
	switch c.PatchType {
	case types.StrategicMergePatchType:
		return c.strategicMerge(object, patch)
	case types.JSONPatchType:
		return jsonPatch(object, patch)
	}
	return merge(object, patch), nil
}

// merge returns object with a JSON merge patch (RFC 7386) applied. It changes object.
func merge(object, patch map[string]any) map[string]any {
	for name, value := range patch {
		inner, isMap := value.(map[string]any)
		switch {
		case value == nil:
			delete(object, name)
		case isMap:
			old, _ := object[name].(map[string]any)
			if old == nil {
				old = map[string]any{}
			}
			object[name] = merge(old, inner)
		default:
			object[name] = value
		}
	}
	return object
}

// strategicMerge merges by the rules in the Go types of the built-in kinds.
func (c *call) strategicMerge(object, patch map[string]any) (map[string]any, error) {
	example, err := scheme.Scheme.New(c.kind.GroupVersionKind)
	if err != nil {
		return nil, c.unsupportedPatch()
	}
	merged, err := strategicpatch.StrategicMergeMapPatch(object, patch, example)
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	return merged, nil
}

// checkPatchType rejects patches that have a form that isn't served.
func (c *call) checkPatchType() error {
	switch c.PatchType {
	case "", types.ApplyPatchType, types.MergePatchType, types.StrategicMergePatchType, types.JSONPatchType:
		return nil
	}
	return c.unsupportedPatch()
}

func (c *call) unsupportedPatch() error {
	return apierrors.NewGenericServerResponse(http.StatusUnsupportedMediaType, c.Verb, c.resource(), c.Name,
		fmt.Sprintf("the body of the request was in an unknown format: %s", c.PatchType), 0, false)
}

// jsonPatch returns the object with a JSON patch (RFC 6902) applied. It changes object. Operations that copy and move
// are missing, and so is inserting between the items of a list.
func jsonPatch(object, patch map[string]any) (map[string]any, error) {
	operations, isList := patch["operations"].([]any)
	if !isList {
		return nil, apierrors.NewBadRequest("error decoding patch: it has to be a list of operations")
	}
	for _, op := range operations {
		fields, _ := op.(map[string]any)
		if !edit(projection.NewObject(object, projection.FieldSet{}), fields) {
			return nil, apierrors.NewGenericServerResponse(http.StatusUnprocessableEntity, "", schema.GroupResource{},
				"", "", 0, false)
		}
	}
	return object, nil
}

// edit carries an operation out, and reports whether it could be done.
func edit(object *projection.Object, operation map[string]any) bool {
	op, _ := operation["op"].(string)
	pointer, _ := operation["path"].(string)
	path, err := object.ParsePointer(pointer)
	exists := err == nil
	if at := strings.LastIndex(pointer, "/"); !exists && (op == "add" || op == "replace") && at >= 0 {
		if path, err = object.ParsePointer(pointer[:at]); err != nil {
			return false
		}
		path = path.Child(child(object, path, pointer[at+1:]))
	}
	value, _ := object.Get(path)
	switch {
	case op == "add", op == "replace": // servers take both for a field that isn't there
		return object.Set(path, operation["value"]) == nil
	case op == "remove" && exists:
		return object.Remove(path)
	}
	return op == "test" && exists && reflect.DeepEqual(value, operation["value"])
}

// child returns the element of a path for a token of a pointer below what is there.
func child(object *projection.Object, around projection.Path, token string) projection.Element {
	if value, _ := object.Get(around); token == "-" {
		if items, isList := value.([]any); isList {
			return projection.Index(len(items))
		}
	}
	return projection.Field(strings.NewReplacer("~1", "/", "~0", "~").Replace(token))
}
