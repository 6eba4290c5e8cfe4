package ssaplantest

import (
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/json"
)

// fillKeys gives the elements of lists the key fields that they lack, such as the protocol of a port. The field manager
// knows these defaults, and only from the schema, so they are taken from what it wrote into managedFields.
func fillKeys(obj *unstructured.Unstructured) error {
	for _, entry := range obj.GetManagedFields() {
		var set map[string]any
		if entry.FieldsV1 == nil {
			continue
		}
		if err := json.Unmarshal(entry.FieldsV1.Raw, &set); err != nil {
			return err
		}
		if err := fillKeysOf(obj.Object, set); err != nil {
			return err
		}
	}
	return nil
}

// fillKeysOf does so for a value and the set of its fields, in the form FieldsV1.
func fillKeysOf(value any, set map[string]any) error {
	for name, below := range set {
		fields, _ := below.(map[string]any)
		var inner any
		if field, ok := strings.CutPrefix(name, "f:"); ok {
			parent, _ := value.(map[string]any)
			inner = parent[field]
		} else if text, ok := strings.CutPrefix(name, "k:"); ok {
			var key map[string]any
			if err := json.Unmarshal([]byte(text), &key); err != nil {
				return err
			}
			list, _ := value.([]any)
			inner = element(list, key)
		}
		if err := fillKeysOf(inner, fields); err != nil {
			return err
		}
	}
	return nil
}

// element returns the element that has the key. If there is none, it is the one that lacks a part of it, and gets it.
func element(list []any, key map[string]any) any {
	for _, exact := range []bool{true, false} {
		for _, item := range list {
			if candidate, ok := item.(map[string]any); ok && matches(candidate, key, exact) {
				for field, value := range key {
					candidate[field] = value
				}
				return candidate
			}
		}
	}
	return nil
}

// matches reports whether an element has the fields of a key, or, unless it has to be exact, at least one of them and
// no other value for any.
func matches(item, key map[string]any, exact bool) bool {
	some := false
	for field, want := range key {
		got, ok := item[field]
		if ok && !reflect.DeepEqual(got, want) || !ok && exact {
			return false
		}
		some = some || ok
	}
	return some
}
