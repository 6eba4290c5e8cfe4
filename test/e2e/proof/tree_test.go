package proof_test

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
)

// place is the path of a value in a tree of maps and lists: field names (string) and positions (int).
type place []any

func (p place) child(step any) place { return append(slices.Clone(p), step) }

// places returns where every value of the tree stands, maps in the order of their keys; a value comes before those in
// it.
func places(tree any) []place {
	var out []place
	walk(tree, nil, func(p place, _ any) { out = append(out, p) })
	return out
}

func walk(v any, at place, visit func(place, any)) {
	if len(at) > 0 {
		visit(at, v)
	}
	switch v := v.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			walk(v[name], at.child(name), visit)
		}
	case []any:
		for i, item := range v {
			walk(item, at.child(i), visit)
		}
	}
}

// lookup returns the value at a place, if there is one.
func lookup(tree any, at place) (any, bool) {
	for _, step := range at {
		var ok bool
		switch v := tree.(type) {
		case map[string]any:
			name, isName := step.(string)
			tree, ok = v[name]
			ok = ok && isName
		case []any:
			i, isIndex := step.(int)
			if ok = isIndex && i >= 0 && i < len(v); ok {
				tree = v[i]
			}
		}
		if !ok {
			return nil, false
		}
	}
	return tree, true
}

// put returns the tree with v at a place. Maps and lists on the way are made if they are missing, and a position beyond
// the end of a list is its end; where something else is in the way, nothing happens. The tree itself is changed.
func put(tree any, at place, v any) any {
	return edit(tree, at, func(any) (any, bool) { return v, true })
}

// cut returns the tree without the value at a place. The tree itself is changed.
func cut(tree any, at place) any {
	if _, exists := lookup(tree, at); !exists {
		return tree
	}
	return edit(tree, at, func(any) (any, bool) { return nil, false })
}

// edit returns the tree with change made to the value at a place; change reports whether a value stays there.
func edit(tree any, at place, change func(any) (any, bool)) any {
	descend := func(v any) (any, bool) {
		if len(at) == 1 {
			return change(v)
		}
		return edit(v, at[1:], change), true
	}
	if tree == nil {
		tree = emptyFor(at[0])
	}
	switch v := tree.(type) {
	case map[string]any:
		if name, ok := at[0].(string); ok {
			if after, stays := descend(v[name]); stays {
				v[name] = after
			} else {
				delete(v, name)
			}
		}
	case []any:
		if i, ok := at[0].(int); ok {
			return editItem(v, min(i, len(v)), descend)
		}
	}
	return tree
}

func editItem(list []any, i int, change func(any) (any, bool)) []any {
	if i == len(list) {
		list = append(list, nil)
	}
	after, stays := change(list[i])
	if !stays {
		return slices.Delete(list, i, i+1)
	}
	list[i] = after
	return list
}

func emptyFor(step any) any {
	if _, isIndex := step.(int); isIndex {
		return []any{}
	}
	return map[string]any{}
}

func copyOf[T any](tree T) T {
	out, _ := runtime.DeepCopyJSONValue(tree).(T)
	return out
}
