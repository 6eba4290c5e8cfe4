package fieldowner

import (
	"encoding/json"
	"maps"
	"slices"
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

// isContainer reports whether v is a map or a list.
func isContainer(v any) bool {
	switch v.(type) {
	case map[string]any, []any:
		return true
	}
	return false
}
