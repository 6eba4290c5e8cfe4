package projection

import (
	"maps"
	"slices"
)

// Projection is the part of an object that lies at the paths of a set, made by [Project]. The zero Projection is that
// of an object that doesn't exist.
type Projection struct {
	// Object holds the values, in the shape of the object they were taken from; nil if the object has none of them.
	Object map[string]any
	// Fields is the set that was asked for.
	Fields FieldSet
	// Missing lists the paths of the set that the object lacks; of paths below each other only the topmost.
	Missing []Path
	// Duplicates lists list elements whose key or value stands in the object more than once. The first one counts.
	Duplicates []Path
	// Sensitive are the paths at which the object's values must not be shown; see the function [Sensitive]. A host may
	// add others.
	Sensitive FieldSet
}

// Project returns the part of obj that lies at the paths of set, with types and list order as in obj. Elements of
// associative lists are found by key, wherever they stand, and keep their key fields; elements of sets are found by
// value; in a list of positions, those that the set lacks are null. Paths that obj lacks are reported in
// [Projection.Missing]; they are not an error. Project does not modify obj, and the result shares no memory with it.
func Project(obj map[string]any, set FieldSet) Projection {
	const deep = 16 // enough for most
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

type projector struct {
	result  Projection
	path    Path
	scratch scratch
	parts   []any // of the items of lists, those of an inner list after those of the outer
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
		p.enter(c)
		p.miss(c.node)
		p.leave()
	}
}

func (p *projector) enter(c child) { p.path = append(p.path, c.element) }

func (p *projector) leave() { p.path = p.path[:len(p.path)-1] }

func (p *projector) fields(m map[string]any, n *node) (any, bool) {
	if out, all := allScalars(m, n); all {
		return out, true
	}
	out := make(map[string]any, min(len(n.children), len(m)))
	for _, c := range n.children {
		name := c.element.text
		v, exists := m[name]
		exists = exists && c.element.kind == FieldKind
		if exists && c.node.isLeaf() {
			out[name] = deepCopy(v)
			continue
		}
		p.enter(c)
		if !exists {
			p.miss(c.node)
		} else if part, ok := p.value(v, c.node); ok {
			out[name] = part
		}
		p.leave()
	}
	return out, n.member || len(out) > 0
}

// wide is the number of fields from which a map is looked at as a whole first.
const wide = 16

// allScalars returns a copy of m if m has the fields of n and no others, and all are scalars, as the data of a ConfigMap
// mostly is. Copying a wide map is much faster than making one field by field.
func allScalars(m map[string]any, n *node) (map[string]any, bool) {
	if len(m) < wide || len(m) != len(n.children) {
		return nil, false
	}
	for _, c := range n.children {
		v, exists := m[c.element.text]
		if !exists || !isScalar(v) || c.node != leaf || c.element.kind != FieldKind {
			return nil, false
		}
	}
	return maps.Clone(m), true
}

func isScalar(v any) bool {
	switch v.(type) {
	case string, bool, int64, float64, nil:
		return true
	}
	return false
}

// items keeps the order of the list and not of the set: where elements stand is part of what an object says.
func (p *projector) items(list []any, n *node) (any, bool) {
	found := p.scratch.match(list, n)
	start := len(p.parts)
	p.parts = slices.Grow(p.parts, len(n.children))
	for i, c := range n.children {
		p.enter(c)
		if _, twice := slices.BinarySearch(found.twice, i); twice {
			p.result.Duplicates = append(p.result.Duplicates, slices.Clone(p.path))
		}
		part, exists := p.item(list, found.itemOf[i], n, c)
		p.parts = append(p.parts, part)
		if !exists && found.itemOf[i] >= 0 {
			found.childAt[found.itemOf[i]] = -1
		}
		p.leave()
	}
	out := make([]any, 0, min(len(n.children), len(list)))
	for i, match := range found.childAt {
		if match >= 0 {
			out = appendItem(out, p.parts[start+match], i, n.children[match].element)
		}
	}
	p.parts = p.parts[:start]
	p.scratch.release(found)
	return out, n.member || len(out) > 0
}

// item projects the item of the list that is a child of n.
func (p *projector) item(list []any, position int, n *node, c child) (any, bool) {
	if position < 0 {
		p.miss(c.node)
		return nil, false
	}
	part, exists := p.value(list[position], c.node)
	return withKeyFields(part, list[position], n, c.element), exists
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
func withKeyFields(part, item any, n *node, e Element) any {
	out, ok := part.(map[string]any)
	from, isMap := plain(item).(map[string]any)
	if e.kind != KeyKind || !ok || !isMap {
		return part
	}
	for _, name := range n.items().keyNames {
		if _, there := out[name]; there {
			continue
		}
		if v, exists := from[name]; exists {
			out[name] = deepCopy(v)
		}
	}
	return out
}
