package projection

import (
	"iter"
	"slices"
)

// Projection is the part of an object that lies at the paths of a set, made by [Project]. The zero Projection is that
// of an object that doesn't exist.
type Projection struct {
	// Object holds the values, in the shape of the object they were taken from; nil if the object has none of them.
	Object map[string]any
	// Fields is the set that was given to [Project].
	Fields FieldSet
	// Missing lists the paths of the set that the object lacks, without paths below another missing path.
	Missing []Path
	// Duplicates lists the keys and values that more than one list item of the object has. Object has the first of
	// these items.
	Duplicates []Path
	// Sensitive are the paths at which the object's values must not be shown; see the function [Sensitive]. A caller
	// may add others.
	Sensitive FieldSet
	// positions are those of the items in the lists of the object, where the projection lacks one before others.
	positions positions
}

// positions are, by the text of a list's path, the positions that the items of a projected list have in the object.
type positions map[string]listPositions

// in returns the positions of the items of a list; nil if they are the same in the object.
func (ps positions) in(list Path) listPositions {
	if len(ps) == 0 {
		return nil
	}
	return ps[list.String()]
}

// listPositions are the positions in the object, by the positions in the projected list.
type listPositions []int

// of returns the position in the object of an item of the projected list, and -1 for -1.
func (ps listPositions) of(item int) int {
	if item >= 0 && item < len(ps) {
		return ps[item]
	}
	return item
}

// Project returns the part of obj that lies at the paths of set, with types and list order as in obj. Elements of
// associative lists are found by key, whatever their position, and keep their key fields. Elements of sets are found by
// value. If the set has positions of a list, the other positions are null. Paths that obj lacks are reported in
// [Projection.Missing]; they are not an error. Project does not modify obj, and the result shares no memory with it.
func Project(obj map[string]any, set FieldSet) Projection {
	p := projector{result: Projection{Fields: set, Sensitive: Sensitive(obj)}, path: make(Path, 0, deep)}
	switch {
	case set.root == nil:
	case obj == nil:
		p.miss(set.root)
	default:
		if v, ok := p.value(obj, set.root); ok {
			p.result.Object, _ = v.(map[string]any)
		}
	}
	return p.result
}

// Without returns p without the fields at and below the paths of the set.
func (p Projection) Without(set FieldSet) Projection {
	if set.Empty() {
		return p
	}
	out := Project(p.Object, p.Fields.Without(set))
	out.Sensitive, out.positions = p.Sensitive, p.positions
	return out
}

type projector struct {
	result Projection
	path   Path
}

// value projects v onto n. It reports false if nothing of n is there.
func (p *projector) value(v any, n *node) (any, bool) {
	if n.isLeaf() {
		return deepCopy(v), true
	}
	switch v := plain(v).(type) {
	case map[string]any:
		return p.fields(v, n)
	case []any:
		return p.items(v, n)
	default:
		p.missChildren(n)
		return v, n.member
	}
}

// miss reports n, or the topmost members below it.
func (p *projector) miss(n *node) {
	if n.member {
		p.result.Missing = append(p.result.Missing, slices.Clone(p.path))
		return
	}
	p.missChildren(n)
}

func (p *projector) missChildren(n *node) {
	for _, c := range n.children {
		p.child(side{}, c)
	}
}

func (p *projector) fields(m map[string]any, n *node) (any, bool) {
	out := make(map[string]any, min(len(n.children), len(m)))
	for _, c := range n.children {
		v, exists := m[c.element.text]
		exists = exists && c.element.kind == FieldKind
		if exists && c.node.isLeaf() {
			out[c.element.text] = deepCopy(v)
			continue
		}
		if part, ok := p.child(side{v, exists}, c); ok {
			out[c.element.text] = part
		}
	}
	return out, n.member || len(out) > 0
}

// child projects what is at a child of a node.
func (p *projector) child(v side, c child) (any, bool) {
	p.path = append(p.path, c.element)
	var part any
	if v.exists {
		part, v.exists = p.value(v.value, c.node)
	} else {
		p.miss(c.node)
	}
	p.path = p.path[:len(p.path)-1]
	return part, v.exists
}

// items keeps the order of the list and not that of the set, because the order is part of the object.
func (p *projector) items(list []any, n *node) (any, bool) {
	found := n.values(list)
	parts := make([]side, len(n.children))
	repeated := found.repeated()
	for i, c := range n.children {
		if repeated != nil && repeated[i] {
			p.result.Duplicates = append(p.result.Duplicates, p.path.Child(c.element))
		}
		parts[i].value, parts[i].exists = p.child(found.at(i), c)
	}
	out := make([]any, 0, min(len(n.children), len(list)))
	var at []int // the positions of what is in out, from when the object's are others
	for i, item := range list {
		if c := found.child[i]; found.isFirst(i) && parts[c].exists {
			e := n.children[c].element
			out = appendItem(out, withKeyFields(parts[c].value, item, e, found.keyFields), i, e)
			if len(out) <= i {
				for len(at) < len(out)-1 {
					at = append(at, len(at))
				}
				at = append(at, i)
			}
		}
	}
	p.place(at)
	return out, n.member || len(out) > 0
}

// place stores the positions that the items of a list have in the object, unless these are the same.
func (p *projector) place(at []int) {
	if at == nil {
		return
	}
	if p.result.positions == nil {
		p.result.positions = positions{}
	}
	p.result.positions[p.path.String()] = at
}

// appendItem appends an item of a list; an item that is named by its position keeps it.
func appendItem(out []any, item any, position int, e Element) []any {
	if e.kind == IndexKind {
		for len(out) < position {
			out = append(out, nil)
		}
	}
	return append(out, item)
}

// withKeyFields adds to a projected item the key fields by which it can be found again.
func withKeyFields(part, item any, e Element, keyFields []string) any {
	if e.kind != KeyKind {
		return part
	}
	out, from := part.(map[string]any), mapOf(item) // only maps have keys
	for _, name := range keyFields {
		if _, there := out[name]; there {
			continue
		}
		if v, exists := from[name]; exists {
			out[name] = deepCopy(v)
		}
	}
	return out
}

// Leaves yields every leaf of p.Fields that the object has, with its value, in the order of the paths: the projection
// as a flat table. Missing fields are left out. Each path may be kept and changed by the caller; the values belong to
// p.
func (p Projection) Leaves() iter.Seq2[Path, any] {
	return func(yield func(Path, any) bool) {
		if p.Object != nil && p.Fields.root != nil {
			yieldLeaves(p.Object, p.Fields.root, nil,
				func(path Path, v any) bool { return yield(slices.Clone(path), v) })
		}
	}
}

// MapLeaves yields each leaf of set at which obj has a map, together with that map, in the order of the paths. Such a
// map was declared as a whole, or as an empty map. Each path may be kept and changed by the caller; the maps belong to
// obj.
func MapLeaves(obj map[string]any, set FieldSet) iter.Seq2[Path, map[string]any] {
	return func(yield func(Path, map[string]any) bool) {
		if obj == nil || set.root == nil {
			return
		}
		yieldLeaves(obj, set.root, make(Path, 0, deep), func(path Path, v any) bool {
			m, isMap := plain(v).(map[string]any)
			return !isMap || yield(slices.Clone(path), m)
		})
	}
}

// yieldLeaves yields what v has of the leaves below n, with paths that are good until the next. It reports false if the
// caller wants no more.
func yieldLeaves(v any, n *node, path Path, yield func(Path, any) bool) bool {
	if n.isLeaf() {
		return yield(path, v)
	}
	found := n.values(v)
	for i, c := range n.children {
		if v := found.at(i); v.exists && !yieldLeaves(v.value, c.node, append(path, c.element), yield) {
			return false
		}
	}
	return true
}
