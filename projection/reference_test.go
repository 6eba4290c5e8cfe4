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

// place is a path of the set that two projections were made with, and what the second object has there.
type place struct {
	set  projection.FieldSet
	at   projection.Path
	real any
}

func (p place) child(e projection.Element) place {
	c := place{set: p.set, at: p.at.Child(e)}
	switch real := p.real.(type) {
	case map[string]any:
		c.real = real[e.Name()]
	case []any:
		for i, item := range slices.Backward(real) {
			if found, ok := referenceElement(p.below(), i, item); ok && found == e {
				c.real = item
			}
		}
	}
	return c
}

// projected returns the position in the projected list of what is at a position of the object's list.
func (p place) projected(position int) int {
	list, _ := p.real.([]any)
	return len(referenceItems(list[:position], p.below()))
}

// member reports whether the place is in the set, so that an empty map or list stays there.
func (p place) member() bool { return p.set.Has(p.at) }

// covered reports whether the set has the place or something below it.
func (p place) covered() bool { return !p.set.Under(p.at).Empty() }

// below returns the paths of the set below the place, relative to it.
func (p place) below() []projection.Path {
	var out []projection.Path
	for q := range p.set.Under(p.at).All() {
		if len(q) > len(p.at) {
			out = append(out, q[len(p.at):])
		}
	}
	return out
}

// patched returns v after the changes, whose paths are relative to v.
func patched(v any, exists bool, changes []projection.Difference, at place) (any, bool) {
	var below []projection.Difference
	removed := false
	for _, c := range changes {
		switch {
		case len(c.Path) > 0:
			below = append(below, c)
		case c.Op == projection.OpRemove:
			removed = true
		case c.Op != projection.OpMove:
			v, exists = c.After, true
		}
	}
	if len(below) > 0 {
		v, exists = patchedChildren(v, below, at)
	}
	return v, exists && !removed
}

func patchedChildren(v any, changes []projection.Difference, at place) (any, bool) {
	list, _ := v.([]any)
	switch changes[0].Path[0].Kind() {
	case projection.FieldKind:
		m, _ := v.(map[string]any)
		out := patchedFields(m, changes, at)
		return out, len(out) > 0 || at.member()
	case projection.IndexKind:
		list = patchedPositions(list, changes, at)
	default:
		list = patchedItems(list, changes, at)
	}
	return list, len(list) > 0 || at.member()
}

// heads returns the elements with which the paths of the changes begin.
func heads(changes []projection.Difference) []projection.Element {
	var out []projection.Element
	for _, c := range changes {
		if !slices.Contains(out, c.Path[0]) {
			out = append(out, c.Path[0])
		}
	}
	return out
}

// below returns the changes at or below e, relative to it.
func below(e projection.Element, changes []projection.Difference) []projection.Difference {
	var out []projection.Difference
	for _, c := range changes {
		if c.Path[0] == e {
			c.Path = c.Path[1:]
			out = append(out, c)
		}
	}
	return out
}

func patchedFields(m map[string]any, changes []projection.Difference, at place) map[string]any {
	out := map[string]any{}
	for name, v := range m {
		out[name] = v
	}
	for _, e := range heads(changes) {
		name := e.Name()
		old, exists := m[name]
		if v, ok := patched(old, exists, below(e, changes), at.child(e)); ok {
			out[name] = v
		} else {
			delete(out, name)
		}
	}
	return out
}

func patchedPositions(list []any, changes []projection.Difference, at place) []any {
	items := map[int]any{}
	for i, item := range list {
		if at.child(projection.Index(i)).covered() {
			items[i] = item
		}
	}
	for _, e := range heads(changes) {
		i := e.Index()
		old, exists := items[i]
		if v, ok := patched(old, exists, below(e, changes), at.child(e)); ok {
			items[i] = v
		} else {
			delete(items, i)
		}
	}
	out := []any{}
	for i := range items {
		for len(out) <= i {
			out = append(out, nil)
		}
		out[i] = items[i]
	}
	return out
}

func patchedItems(list []any, changes []projection.Difference, at place) []any {
	placed := map[int]any{}
	var rest []any
	for i, item := range list {
		e, _ := referenceElement(at.below(), i, item)
		here := below(e, changes)
		if len(here) == 0 {
			rest = append(rest, item)
			continue
		}
		v, ok := patched(item, true, here, at.child(e))
		switch first := here[0]; {
		case !ok:
		case first.Op == projection.OpMove && len(first.Path) == 0:
			placed[at.projected(int(first.After.(int64)))] = v
		default:
			rest = append(rest, v)
		}
	}
	for _, c := range changes {
		if c.Op == projection.OpAdd && len(c.Path) == 1 {
			placed[at.projected(c.Position)] = c.After
		}
	}
	return arranged(placed, rest)
}

// arranged puts some items at their places and the others between them.
func arranged(placed map[int]any, rest []any) []any {
	size := len(placed) + len(rest)
	out := make([]any, 0, size)
	for i := range size {
		if item, ok := placed[i]; ok {
			out = append(out, item)
		} else if len(rest) > 0 {
			out = append(out, rest[0])
			rest = rest[1:]
		}
	}
	return out
}
