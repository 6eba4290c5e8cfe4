package handover

import "github.com/ssaplan/primitives/projection"

// isEmpty reports whether v is an empty map or list.
func isEmpty(v any) bool {
	fields, isMap := v.(map[string]any)
	return isMap && len(fields) == 0 || isEmptyList(v)
}

// isEmptyList reports whether v is an empty list.
func isEmptyList(v any) bool {
	items, isList := v.([]any)
	return isList && len(items) == 0
}

// isHollow reports whether v is null, an empty list, an empty map, or a map that has only empty lists and such maps.
func isHollow(v any) bool {
	fields, isMap := v.(map[string]any)
	for _, value := range fields {
		if value == nil || !isHollow(value) {
			return false
		}
	}
	return v == nil || isMap || isEmptyList(v)
}

// listsIn returns the paths of the lists in v, the value at p: p itself if v is a list, otherwise the lists in a map
// and in the maps in it.
func listsIn(p projection.Path, v any) (lists []projection.Path) {
	if _, isList := v.([]any); isList {
		return []projection.Path{p}
	}
	fields, _ := v.(map[string]any)
	for name, value := range fields {
		lists = append(lists, listsIn(p.Child(projection.Field(name)), value)...)
	}
	return lists
}

// mapAt returns the map that the object has at p, and whether it has one.
func mapAt(obj *projection.Object, p projection.Path) (map[string]any, bool) {
	value, _ := obj.Get(p)
	fields, isMap := value.(map[string]any)
	return fields, isMap
}
