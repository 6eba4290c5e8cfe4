package projection

// Union returns the paths that are in s or in other.
func (s FieldSet) Union(other FieldSet) FieldSet {
	return combine(s, other, func(a, b bool) bool { return a || b })
}

// Intersection returns the paths that are in s and in other.
func (s FieldSet) Intersection(other FieldSet) FieldSet {
	return combine(s, other, func(a, b bool) bool { return a && b })
}

// Difference returns the paths that are in s and not in other. It compares path by path; see [FieldSet.Without] for
// removing everything below a path too.
func (s FieldSet) Difference(other FieldSet) FieldSet {
	return combine(s, other, func(a, b bool) bool { return a && !b })
}

// Without returns the paths of s that are neither in other nor below a path of other.
func (s FieldSet) Without(other FieldSet) FieldSet {
	return FieldSet{without(s.root, other.root)}.normal()
}

func without(n, removed *node) *node {
	if n == nil || removed == nil {
		return n
	}
	if removed.member {
		return &node{}
	}
	out := &node{member: n.member}
	merge(n, removed, func(e Element, a, b *node) {
		if kept := without(a, b); !kept.empty() {
			out.children = append(out.children, child{e, kept})
		}
	})
	return out
}

// combine keeps the paths for which keep is true, given whether the path is in s and whether it is in other.
func combine(s, other FieldSet, keep func(a, b bool) bool) FieldSet {
	return FieldSet{combineNodes(s.root, other.root, keep)}.normal()
}

func combineNodes(a, b *node, keep func(a, b bool) bool) *node {
	switch {
	case a == nil && b == nil:
		return nil
	case b == nil:
		return keptIf(keep(true, false), a)
	case a == nil:
		return keptIf(keep(false, true), b)
	case a == b:
		return keptIf(keep(true, true), a)
	}
	out := &node{member: keep(a.member, b.member)}
	merge(a, b, func(e Element, a, b *node) {
		if n := combineNodes(a, b, keep); !n.empty() {
			out.children = append(out.children, child{e, n})
		}
	})
	return out
}

func keptIf(keep bool, n *node) *node {
	if keep {
		return n
	}
	return nil
}

// merge visits the elements of both nodes in order, with the child that either side has there.
func merge(a, b *node, visit func(e Element, a, b *node)) {
	var as, bs []child
	if a != nil {
		as = a.children
	}
	if b != nil {
		bs = b.children
	}
	for len(as) > 0 || len(bs) > 0 {
		switch c := compareHeads(as, bs); {
		case c < 0:
			visit(as[0].element, as[0].node, nil)
			as = as[1:]
		case c > 0:
			visit(bs[0].element, nil, bs[0].node)
			bs = bs[1:]
		default:
			visit(as[0].element, as[0].node, bs[0].node)
			as, bs = as[1:], bs[1:]
		}
	}
}

func compareHeads(as, bs []child) int {
	switch {
	case len(bs) == 0:
		return -1
	case len(as) == 0:
		return 1
	}
	return as[0].element.Compare(bs[0].element)
}
