package manifest

import (
	stdjson "encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/json"
)

// Of returns the manifest that a Go value declares: any [runtime.Object], or an apply configuration of client-go. The
// value isn't modified.
//
// If the value has no apiVersion and kind, they come from the scheme, which may otherwise be nil. Apply configurations
// have both. It is an error if the scheme doesn't have the type either.
//
// A Go struct has a value for every field. So Of leaves out fields that probably weren't set: null, and a struct that
// is zero or becomes empty, such as status, resources, strategy, and metadata.creationTimestamp (also of a template).
// The Go type decides:
//
//   - A pointer that isn't nil, or an item of a list or map, stays with any value: replicas of 0, emptyDir, the rule {}
//     of a NetworkPolicy. Lists and maps that are empty and not nil stay, too, unless the type omits them.
//   - A zero number, string or bool without omitempty stays if another field of its struct is set: value of a
//     PriorityClass, a required number of a custom resource.
//   - A zero struct is left out, since it looks like one that wasn't set: resources: {}, the podSelector: {} of a
//     NetworkPolicy, a targetPort of 0. For built-in kinds, a server treats both the same. To declare it, use an apply
//     configuration, or a type with a pointer there.
//   - A zero number with omitempty is always left out.
//
// Fields that only servers write, such as a status with values or the uid of a live object, stay; a plan leaves them
// out with a warning.
func Of(object any, scheme *runtime.Scheme) (*unstructured.Unstructured, error) {
	value := reflect.ValueOf(object)
	if value.Kind() != reflect.Pointer || value.IsNil() {
		return nil, fmt.Errorf("ssaplan/manifest: expected a pointer to an object, got %T", object)
	}
	if u, ok := object.(runtime.Unstructured); ok {
		return &unstructured.Unstructured{Object: runtime.DeepCopyJSON(u.UnstructuredContent())}, nil
	}
	made, err := converted(object)
	if err == nil {
		leaveOutUnwritten(value, made.Object)
		err = fillInKind(made, object, scheme)
	}
	if err != nil {
		return nil, fmt.Errorf("ssaplan/manifest: %T: %w", object, err)
	}
	return made, nil
}

// converted returns what typed clients send of an object. The converter of apimachinery agrees with that for its own
// kinds only: it can't read unsigned numbers again, and has other names for fields without a tag.
func converted(object any) (*unstructured.Unstructured, error) {
	text, err := stdjson.Marshal(object)
	if err != nil {
		return nil, err
	}
	made := &unstructured.Unstructured{}
	if json.Unmarshal(text, &made.Object) != nil || made.Object == nil {
		return nil, errors.New("is no object in JSON")
	}
	return made, nil
}

// fillInKind sets apiVersion and kind of an object, if it lacks them.
func fillInKind(made *unstructured.Unstructured, object any, scheme *runtime.Scheme) error {
	if made.GetAPIVersion() != "" && made.GetKind() != "" {
		return nil
	}
	kind, err := kindOf(object, made, scheme)
	if err == nil {
		made.SetGroupVersionKind(kind)
	}
	return err
}

// kindOf returns the kind by which a scheme knows an object that says at most one of apiVersion and kind.
func kindOf(object any, made *unstructured.Unstructured, scheme *runtime.Scheme) (schema.GroupVersionKind, error) {
	typed, ok := object.(runtime.Object)
	if !ok || scheme == nil {
		return schema.GroupVersionKind{},
			errors.New("has no apiVersion and kind; set them, or give the scheme of its type")
	}
	known, _, err := scheme.ObjectKinds(typed)
	if runtime.IsNotRegisteredError(err) {
		return schema.GroupVersionKind{},
			errors.New(
				"has no apiVersion and kind, and the scheme doesn't know its type; set them, or add the type to the scheme")
	} else if err != nil {
		return schema.GroupVersionKind{}, err
	}
	var fit []schema.GroupVersionKind
	for _, k := range known {
		if version, kind := k.ToAPIVersionAndKind(); (made.GetAPIVersion() == "" || made.GetAPIVersion() == version) &&
			(made.GetKind() == "" || made.GetKind() == kind) {
			fit = append(fit, k)
		}
	}
	if len(fit) != 1 {
		return schema.GroupVersionKind{}, fmt.Errorf("the scheme knows its type as %v; set apiVersion and kind", known)
	}
	return fit[0], nil
}

// leaveOutUnwritten removes fields that probably weren't set from the JSON form of a value, or of a part of it.
func leaveOutUnwritten(value reflect.Value, made any) {
	for value.Kind() == reflect.Pointer || value.Kind() == reflect.Interface {
		value = value.Elem()
	}
	if !value.IsValid() || convertsItself(value.Type()) {
		return
	}
	switch made := made.(type) {
	case map[string]any:
		leaveOutOfMap(value, made)
	case []any:
		for i := 0; value.Kind() == reflect.Slice && i < min(value.Len(), len(made)); i++ {
			leaveOutUnwritten(value.Index(i), made[i])
		}
	}
}

func leaveOutOfMap(value reflect.Value, made map[string]any) {
	switch value.Kind() {
	case reflect.Map:
		for entries := value.MapRange(); entries.Next(); {
			leaveOutUnwritten(entries.Value(), made[entries.Key().String()])
		}
	case reflect.Struct:
		for i := range value.NumField() {
			leaveOutOfField(value.Type().Field(i), value.Field(i), made)
		}
	}
}

// leaveOutOfField looks at a field of a struct, of which made is made.
func leaveOutOfField(field reflect.StructField, value reflect.Value, made map[string]any) {
	name := jsonName(field)
	if name == "" { // its fields are fields of the struct itself
		leaveOutUnwritten(value, made)
		return
	}
	converted, found := made[name]
	if !found {
		return
	}
	leaveOutUnwritten(value, converted)
	inner, isMap := converted.(map[string]any)
	unwritten := value.Kind() == reflect.Struct && (value.IsZero() || isMap && len(inner) == 0)
	if unwritten || converted == nil {
		delete(made, name)
	}
}

// jsonName returns the name of a field in JSON, "" if it has none of its own.
func jsonName(field reflect.StructField) string {
	name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
	if name == "" && !field.Anonymous {
		return field.Name
	}
	return name
}

var marshaler = reflect.TypeFor[stdjson.Marshaler]()

// convertsItself reports whether a type decides about its form in JSON, as times and quantities do.
func convertsItself(t reflect.Type) bool {
	return t.Implements(marshaler) || reflect.PointerTo(t).Implements(marshaler)
}
