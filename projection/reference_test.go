package projection_test

import (
	"slices"

	"github.com/ssaplan/primitives/projection"
)

// This file is a second, slow and plain implementation of what Project and Diff promise: the oracle of the laws.

// referenceProject returns the part of v at the paths, which are relative to v.
func referenceProject(v any, paths []projection.Path) (any, bool) {
	member := slices.ContainsFunc(paths, func(p projection.Path) bool { return len(p) == 0 })
	deeper := slices.DeleteFunc(slices.Clone(paths), func(p projection.Path) bool { return len(p) == 0 })
	if len(deeper) == 0 {
		return v, true
	}
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for name, item := range v {
			if part, ok := referenceChild(item, deeper, projection.Field(name)); ok {
				out[name] = part
			}
		}
		return out, member || len(out) > 0
	case []any:
		out := referenceItems(v, deeper)
		return out, member || len(out) > 0
	}
	return v, member
}

func referenceChild(v any, paths []projection.Path, e projection.Element) (any, bool) {
	below := tails(paths, e)
	if len(below) == 0 {
		return nil, false
	}
	return referenceProject(v, below)
}

// tails returns what follows e in the paths that begin with it.
func tails(paths []projection.Path, e projection.Element) []projection.Path {
	var out []projection.Path
	for _, p := range paths {
		if p[0] == e {
			out = append(out, p[1:])
		}
	}
	return out
}

func referenceItems(list []any, paths []projection.Path) []any {
	out := []any{}
	var seen []projection.Element
	for i, item := range list {
		e, ok := referenceElement(paths, i, item)
		if !ok || slices.Contains(seen, e) {
			continue
		}
		seen = append(seen, e)
		part, ok := referenceChild(item, paths, e)
		if !ok {
			continue
		}
		for e.Kind() == projection.IndexKind && len(out) < i {
			out = append(out, nil)
		}
		if m, isMap := part.(map[string]any); isMap && e.Kind() == projection.KeyKind {
			copied := map[string]any{}
			for name, v := range m {
				copied[name] = v
			}
			for name := range e.KeyFields() {
				copied[name] = item.(map[string]any)[name]
			}
			part = copied
		}
		out = append(out, part)
	}
	return out
}

// referenceElement returns which of the first elements of paths an item of a list is.
func referenceElement(paths []projection.Path, position int, item any) (projection.Element, bool) {
	var candidates []projection.Element
	if m, isMap := item.(map[string]any); isMap {
		fields := map[string]any{}
		for _, p := range paths {
			for name := range p[0].KeyFields() {
				if v, exists := m[name]; exists {
					fields[name] = v
				}
			}
		}
		if e, err := projection.Key(fields); err == nil {
			candidates = append(candidates, e)
		}
	}
	if e, err := projection.Value(item); err == nil {
		candidates = append(candidates, e)
	}
	for _, e := range append(candidates, projection.Index(position)) {
		if len(tails(paths, e)) > 0 {
			return e, true
		}
	}
	return projection.Element{}, false
}

// referenceMissing returns the topmost paths of the set that obj lacks.
func referenceMissing(obj map[string]any, set projection.FieldSet) []projection.Path {
	var out []projection.Path
	for p := range set.All() {
		covered := slices.ContainsFunc(out, func(q projection.Path) bool { return p.HasPrefix(q) })
		if !covered && !referenceHas(obj, slices.Collect(set.All()), p) {
			out = append(out, p)
		}
	}
	return out
}

func referenceHas(v any, paths []projection.Path, p projection.Path) bool {
	if len(p) == 0 {
		return true
	}
	paths = slices.DeleteFunc(slices.Clone(paths), func(q projection.Path) bool { return len(q) == 0 })
	switch v := v.(type) {
	case map[string]any:
		item, exists := v[p[0].Name()]
		return exists && p[0].Kind() == projection.FieldKind && referenceHas(item, tails(paths, p[0]), p[1:])
	case []any:
		for i, item := range v {
			if e, ok := referenceElement(paths, i, item); ok && e == p[0] {
				return referenceHas(item, tails(paths, p[0]), p[1:])
			}
		}
	}
	return false
}

// patched returns v after the changes, whose paths are relative to v. Of a map or list that nothing is left of it
// returns false, unless kept says that its path is in the set.
func patched(v any, exists bool, changes []projection.Change, kept func(projection.Path) bool) (any, bool) {
	var below []projection.Change
	removed := false
	for _, c := range changes {
		switch {
		case len(c.Path) > 0:
			below = append(below, c)
		case c.Op == projection.Removed:
			removed = true
		case c.Op != projection.Moved:
			v, exists = c.After, true
		}
	}
	if len(below) > 0 {
		v, exists = patchedChildren(v, below, kept)
	}
	return v, exists && !removed
}

func patchedChildren(v any, changes []projection.Change, kept func(projection.Path) bool) (any, bool) {
	if changes[0].Path[0].Kind() == projection.FieldKind {
		m, _ := v.(map[string]any)
		return patchedFields(m, changes, kept)
	}
	list, _ := v.([]any)
	return patchedItems(list, changes, kept)
}

// relativeTo returns the changes at or below e, and kept for the paths there.
func relativeTo(e projection.Element, changes []projection.Change, kept func(projection.Path) bool) ([]projection.Change, func(projection.Path) bool) {
	var out []projection.Change
	for _, c := range changes {
		if c.Path[0] == e {
			c.Path = c.Path[1:]
			out = append(out, c)
		}
	}
	return out, func(p projection.Path) bool { return kept(append(projection.Path{e}, p...)) }
}

func patchedFields(m map[string]any, changes []projection.Change, kept func(projection.Path) bool) (any, bool) {
	out := map[string]any{}
	for name, v := range m {
		out[name] = v
	}
	for _, c := range changes {
		name := c.Path[0].Name()
		old, exists := m[name]
		below, keptBelow := relativeTo(c.Path[0], changes, kept)
		if v, ok := patched(old, exists, below, keptBelow); ok {
			out[name] = v
		} else {
			delete(out, name)
		}
	}
	return out, len(out) > 0 || kept(nil)
}

func patchedItems(list []any, changes []projection.Change, kept func(projection.Path) bool) (any, bool) {
	placed := map[int]any{}
	var rest []any
	for i, item := range list {
		e, ok := referenceElement(elementsOf(changes), i, item)
		if !ok {
			rest = append(rest, item)
			continue
		}
		below, keptBelow := relativeTo(e, changes, kept)
		v, ok := patched(item, true, below, keptBelow)
		switch move := below[len(below)-1]; {
		case !ok:
		case move.Op == projection.Moved && len(move.Path) == 0:
			placed[int(move.After.(int64))] = v
		default:
			rest = append(rest, v)
		}
	}
	for _, c := range changes {
		if c.Op == projection.Added && len(c.Path) == 1 {
			placed[c.Position] = c.After
		}
	}
	return arranged(placed, rest), len(placed)+len(rest) > 0 || kept(nil)
}

func elementsOf(changes []projection.Change) []projection.Path {
	var out []projection.Path
	for _, c := range changes {
		out = append(out, c.Path)
	}
	return out
}

// arranged puts some items at their places and the others between them.
func arranged(placed map[int]any, rest []any) []any {
	out := make([]any, 0, len(placed)+len(rest))
	for i := range len(placed) + len(rest) {
		if item, ok := placed[i]; ok {
			out = append(out, item)
		} else if len(rest) > 0 {
			out = append(out, rest[0])
			rest = rest[1:]
		}
	}
	return out
}
