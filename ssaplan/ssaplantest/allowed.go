package ssaplantest

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
)

// allowed says which fields a value may have. Nil means any.
type allowed interface {
	// of returns the fields that the value of a field may have. It returns false if there is no such field.
	of(name string) (allowed, bool)
	// ofItem returns the fields that an item of a list may have.
	ofItem() allowed
}

// allowedIn returns the fields that the objects of a kind may have.
func allowedIn(kind Kind) allowed {
	if !kind.builtin {
		return customKind{kind.Schema}
	}
	example, err := scheme.Scheme.New(kind.GroupVersionKind)
	if err != nil {
		return nil // each built-in kind is in the scheme
	}
	return allowedByType(reflect.TypeOf(example))
}

// drop removes the fields that a value may not have, and returns the paths of these fields in the form of a server.
func drop(value any, may allowed, path string) (dropped []string) {
	if may == nil {
		return nil
	}
	switch value := value.(type) {
	case map[string]any:
		for name, inner := range value {
			below := strings.TrimPrefix(path+"."+name, ".")
			inside, known := may.of(name)
			if !known {
				dropped = append(dropped, below)
				delete(value, name)
				continue
			}
			dropped = append(dropped, drop(inner, inside, below)...)
		}
	case []any:
		for i, item := range value {
			dropped = append(dropped, drop(item, may.ofItem(), fmt.Sprintf("%s[%d]", path, i))...)
		}
	}
	slices.Sort(dropped)
	return dropped
}

// allowedByType returns the fields of a Go type. A type that decodes itself may have any.
func allowedByType(t reflect.Type) allowed {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()) {
		return nil
	}
	switch t.Kind() {
	case reflect.Struct, reflect.Map, reflect.Slice:
		return goType{t}
	}
	return nil
}

// goType is the type of a struct, a map or a list.
type goType struct{ reflect.Type }

func (t goType) of(name string) (allowed, bool) {
	switch t.Kind() {
	case reflect.Map:
		return allowedByType(t.Elem()), true
	case reflect.Struct:
		for i := range t.NumField() {
			field := t.Field(i)
			tag, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			if tag == name && tag != "" {
				return allowedByType(field.Type), true
			}
			if tag == "" && field.Anonymous {
				if found, known := (goType{field.Type}).of(name); known {
					return found, true
				}
			}
		}
		return nil, false
	}
	return nil, true
}

func (t goType) ofItem() allowed {
	if t.Kind() == reflect.Slice {
		return allowedByType(t.Elem())
	}
	return nil
}

// customKind are the fields of a custom kind with a schema: those that the schema has, and those that every object
// has.
type customKind struct{ schema map[string]any }

func (c customKind) of(name string) (allowed, bool) {
	switch name {
	case "apiVersion", "kind":
		return nil, true
	case "metadata":
		return allowedByType(reflect.TypeFor[metav1.ObjectMeta]()), true
	}
	if c.schema == nil {
		return nil, true
	}
	return customSchema(c.schema).of(name)
}

func (c customKind) ofItem() allowed { return nil }

// customSchema are the fields in an OpenAPI schema. A schema that names none allows any, as in an apply.
type customSchema map[string]any

func (s customSchema) of(name string) (allowed, bool) {
	properties, _ := s["properties"].(map[string]any)
	if property, ok := properties[name].(map[string]any); ok {
		return customSchema(property), true
	}
	switch others := s["additionalProperties"].(type) {
	case map[string]any:
		return customSchema(others), true
	case bool:
		return nil, others
	}
	return nil, len(properties) == 0 || s["x-kubernetes-preserve-unknown-fields"] == true
}

func (s customSchema) ofItem() allowed {
	if items, ok := s["items"].(map[string]any); ok {
		return customSchema(items)
	}
	return nil
}
