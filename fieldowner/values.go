package fieldowner

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/ssaplan/primitives/projection"
)

// sameValue reports whether a server sees no difference between two values when it looks for conflicts: numbers are
// compared by what they are worth, 1 and 1.0 alike, everything else as it is written.
//
// Source: sigs.k8s.io/structured-merge-diff, value, Equals.
func sameValue(a, b any) bool {
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		return ok && maps.EqualFunc(a, b, sameValue)
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, sameValue)
	case nil, string, bool:
		return a == b
	}
	return sameNumber(a, b)
}

func sameNumber(a, b any) bool {
	switch b.(type) {
	case map[string]any, []any, nil, string, bool:
		return false
	}
	if a, ok := a.(int64); ok {
		if b, ok := b.(int64); ok {
			return a == b
		}
	}
	x, errX := number(a)
	y, errY := number(b)
	return errX == nil && errY == nil && x == y
}

// number converts by way of JSON, because objects that weren't decoded from it hold all kinds of Go's numbers.
func number(v any) (float64, error) {
	if f, ok := v.(float64); ok {
		return f, nil
	}
	text, err := json.Marshal(v)
	if err != nil {
		return 0, err
	}
	var f float64
	err = json.Unmarshal(text, &f)
	return f, err
}

// isEmpty reports whether v is null, an empty map or an empty list.
func isEmpty(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case map[string]any:
		return len(v) == 0
	case []any:
		return len(v) == 0
	}
	return false
}

// IsHollow reports whether v is null, an empty list, an empty map, or a map with nothing but such values. A server
// records no owner for an empty set or keyed list, so in managedFields a map that has only these looks like an empty
// map.
func IsHollow(v any) bool {
	fields, isMap := v.(map[string]any)
	for _, field := range fields {
		if !IsHollow(field) {
			return false
		}
	}
	return isMap || isEmpty(v)
}

// holdsUnrecorded reports whether v is a map of things that a server doesn't record in a map whose fields can have
// owners: of empty sets and keyed lists, and nulls. An atomic map of such things looks alike, and is hardly ever met.
func holdsUnrecorded(v any) bool {
	fields, _ := v.(map[string]any)
	for _, field := range fields {
		if _, isMap := field.(map[string]any); isMap || !isEmpty(field) {
			return false
		}
	}
	return len(fields) > 0
}

// holdsEmptyMap reports whether an empty map is in the map v, which a server records unless v is atomic.
func holdsEmptyMap(v any) bool {
	fields, _ := v.(map[string]any)
	for _, field := range fields {
		if m, isMap := field.(map[string]any); isMap && len(m) == 0 || holdsEmptyMap(field) {
			return true
		}
	}
	return false
}

func isMap(v any) bool {
	_, isMap := v.(map[string]any)
	return isMap
}

// isContainer reports whether v is a map or a list.
func isContainer(v any) bool {
	switch v.(type) {
	case map[string]any, []any:
		return true
	}
	return false
}

// has reports whether the object has a value at p, be it null.
func has(obj *projection.Object, p projection.Path) bool {
	_, exists := obj.Get(p)
	return exists
}
