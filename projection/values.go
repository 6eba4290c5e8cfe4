package projection

import (
	"reflect"
	"slices"
)

// plain returns v as JSON decoding would have made it, if it is of another type: an int, a map[string]string or a
// struct in a manifest that was written by hand. What JSON can't express stays as it is.
func plain(v any) any {
	switch v.(type) {
	case nil, string, bool, int64, float64, map[string]any, []any:
		return v
	}
	switch r := reflect.ValueOf(v); r.Kind() {
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return r.Int()
	case reflect.Float64:
		return r.Float()
	}
	text, err := encodeJSON(v)
	if err != nil {
		return v
	}
	decoded, err := decodeJSON(text)
	if err != nil {
		return v
	}
	return decoded
}

// deepCopy copies maps and lists; everything else in an object is immutable.
func deepCopy(v any) any {
	switch v := plain(v).(type) {
	case map[string]any:
		if v == nil {
			return v
		}
		out := make(map[string]any, len(v))
		for name, item := range v {
			out[name] = deepCopy(item)
		}
		return out
	case []any:
		if v == nil {
			return v
		}
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = deepCopy(item)
		}
		return out
	default:
		return v
	}
}

// equal reports whether two JSON values are the same, types included: 5, "5", 5.0 and null all differ.
func equal(a, b any) bool {
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		return ok && equalMaps(a, b)
	case []any:
		b, ok := b.([]any)
		return ok && (a == nil) == (b == nil) && slices.EqualFunc(a, b, equal)
	case float64:
		b, ok := b.(float64)
		return ok && (a == b || a != a && b != b)
	case string, bool, int64, nil:
		return a == b
	}
	// What JSON can't express, such as a channel, is equal to itself at best.
	return reflect.DeepEqual(a, b)
}

func equalMaps(a, b map[string]any) bool {
	if reflect.ValueOf(a).Pointer() == reflect.ValueOf(b).Pointer() {
		return true // it is one map, shared by both objects
	}
	if len(a) != len(b) || (a == nil) != (b == nil) {
		return false
	}
	for name, item := range a {
		other, exists := b[name]
		if !exists || !equal(item, other) {
			return false
		}
	}
	return true
}
