package projection

import "slices"

// Diff returns how after differs from before at the paths of both, in the order of the paths; only the removal of a map
// or list comes after that of what was in it.
//
// Elements of associative lists and sets are compared with their like, wherever they stand; one that only one side has
// is a single change with its whole value, and one whose place among the others changed is [OpMove]. A map or list that
// only one side has is compared with an empty one, so that each field it brings is a change of its own. Values of
// different types are different: 5, "5", 5.0 and null.
//
// The changes are complete: making them to before.Object gives after.Object.
//
// Project both objects with the same set. If a path is a leaf in one set and has others below it in the other, the
// values there are compared as a whole.
func Diff(before, after Projection) []Difference {
	d := differ{sensitive: before.Sensitive.Union(after.Sensitive)}
	if root := joined(before.Fields.root, after.Fields.root); root != nil {
		d.compare(root, side{before.Object, before.Object != nil}, side{after.Object, after.Object != nil})
	}
	return d.changes
}

// joined returns the union of both nodes, with a leaf wherever one of them has a leaf.
func joined(a, b *node) *node {
	switch {
	case a == nil || a == b || b.isLeaf():
		return b
	case b == nil || a.isLeaf():
		return a
	}
	out := &node{member: a.member || b.member}
	merge(a, b, func(e Element, a, b *node) {
		out.children = append(out.children, child{e, joined(a, b)})
	})
	return out
}

// side is the value that one object has at a path, if it has one.
type side struct {
	value  any
	exists bool
}

type differ struct {
	path      Path
	sensitive FieldSet
	changes   []Difference
}

func (d *differ) report(c Difference) {
	c.Path = slices.Clone(d.path)
	c.Sensitive = d.sensitive.touches(d.path)
	d.changes = append(d.changes, c)
}

func (d *differ) compare(n *node, b, a side) {
	switch {
	case !b.exists && !a.exists:
	case n.isLeaf(), endsInList(d.path) && (!b.exists || !a.exists):
		d.whole(b, a)
	case b.isMap() && a.isMap():
		d.apart(n, b, a, map[string]any{}, func() { d.compareFields(n, b.fields(), a.fields()) })
	case b.isList() && a.isList():
		d.apart(n, b, a, []any{}, func() { d.compareItems(n, b.items(), a.items()) })
	default:
		d.whole(b, a)
	}
}

// apart compares what is in two maps or lists. That one side lacks the map or list itself is a change too if the set
// has its path: it comes first when it is added, and last when it is removed.
func (d *differ) apart(n *node, b, a side, empty any, compare func()) {
	if n.member && !b.exists {
		d.report(Difference{Op: OpAdd, After: empty})
	}
	compare()
	if n.member && !a.exists {
		d.report(Difference{Op: OpRemove, Before: empty})
	}
}

func (d *differ) whole(b, a side) {
	switch {
	case !b.exists:
		d.report(Difference{Op: OpAdd, After: a.value})
	case !a.exists:
		d.report(Difference{Op: OpRemove, Before: b.value})
	case !equal(b.value, a.value):
		d.report(Difference{Op: OpChange, Before: b.value, After: a.value})
	}
}

func (d *differ) compareFields(n *node, b, a map[string]any) {
	for _, c := range differing(n, b, a) {
		if c.element.kind != FieldKind {
			continue
		}
		bv, inB := b[c.element.text]
		av, inA := a[c.element.text]
		d.path = append(d.path, c.element)
		d.compare(c.node, side{bv, inB}, side{av, inA})
		d.path = d.path[:len(d.path)-1]
	}
}

// differing returns the children whose fields may differ. From wide maps with the same names it leaves out equal scalars,
// which are found fastest in the order of the map.
func differing(n *node, b, a map[string]any) []child {
	if len(b) < wide || len(a) != len(b) {
		return n.children
	}
	var names []string
	for name, v := range b {
		other, exists := a[name]
		if !exists || len(names) > len(b)/wide {
			return n.children
		}
		if !isScalar(v) || !isScalar(other) || !equal(v, other) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	var out []child
	for _, name := range names {
		if i, ok := n.find(Element{FieldKind, name}); ok {
			out = append(out, n.children[i])
		}
	}
	return out
}

func (d *differ) compareItems(n *node, b, a []any) {
	before, after := matchItems(b, n), matchItems(a, n)
	moved := movedChildren(before, after)
	for i, c := range n.children {
		from, to := before.itemOf[i], after.itemOf[i]
		d.path = append(d.path, c.element)
		if moved[i] {
			d.report(Difference{Op: OpMove, Before: int64(from), After: int64(to)})
		}
		found := len(d.changes)
		d.compare(c.node, itemAt(b, from), itemAt(a, to))
		if (from < 0) != (to < 0) {
			d.changes[found].Position = max(from, to)
		}
		d.path = d.path[:len(d.path)-1]
	}
}

func itemAt(list []any, position int) side {
	if position < 0 {
		return side{}
	}
	return side{list[position], true}
}

// isMap reports whether the value is a map or, being absent, may stand for an empty one.
func (s side) isMap() bool {
	_, ok := s.value.(map[string]any)
	return ok || !s.exists
}

// isList reports whether the value is a list or, being absent, may stand for an empty one.
func (s side) isList() bool {
	_, ok := s.value.([]any)
	return ok || !s.exists
}

func (s side) fields() map[string]any {
	m, _ := s.value.(map[string]any)
	return m
}

func (s side) items() []any {
	l, _ := s.value.([]any)
	return l
}
