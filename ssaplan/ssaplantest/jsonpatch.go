package ssaplantest

import (
	"net/http"
	"reflect"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/ssaplan/primitives/projection"
)

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
			return nil, apierrors.NewGenericServerResponse(http.StatusUnprocessableEntity, "", schema.GroupResource{}, "", "", 0, false)
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
