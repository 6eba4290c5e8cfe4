package projection

import (
	"slices"
	"sync/atomic"
)

// node is what a [FieldSet] has at and below one path. A node doesn't change once a FieldSet can reach it, except that
// its names are stored when a list is first matched with its children.
type node struct {
	member   bool
	children []child // sorted by [Element.Compare]
	names    atomic.Pointer[names]
}

type child struct {
	element Element
	node    *node
}

// leaf is the node of a path that is a member and has no path below it.
var leaf = &node{member: true}

// buildNode makes the node at the given depth of sorted paths that are equal up to there.
func buildNode(paths []Path, depth int) *node {
	n := &node{}
	for len(paths) > 0 && len(paths[0]) == depth {
		n.member = true
		paths = paths[1:]
	}
	for len(paths) > 0 {
		e, end := paths[0][depth], 1
		for end < len(paths) && paths[end][depth] == e {
			end++
		}
		n.children = append(n.children, child{e, buildNode(paths[:end], depth+1)})
		paths = paths[end:]
	}
	return n
}

func (n *node) empty() bool { return n == nil || !n.member && len(n.children) == 0 }

func (n *node) isLeaf() bool { return n != nil && n.member && len(n.children) == 0 }

// find returns where the child for e is.
func (n *node) find(e Element) (int, bool) {
	return slices.BinarySearchFunc(n.children, e, func(c child, e Element) int { return c.element.Compare(e) })
}

func (n *node) child(e Element) *node {
	if n == nil {
		return nil
	}
	i, ok := n.find(e)
	if !ok {
		return nil
	}
	return n.children[i].node
}

func (n *node) at(p Path) *node {
	for _, e := range p {
		n = n.child(e)
	}
	return n
}

// names is what the elements of a list show about the names of its items.
type names struct {
	keyFields []string // sorted
	// kinds are those of the elements.
	kinds [IndexKind + 1]bool
}

// itemNames returns the names that the children of n show. It stores them in n: if two goroutines do that at once, both
// store the same.
func (n *node) itemNames() names {
	if known := n.names.Load(); known != nil {
		return *known
	}
	ns := &names{}
	for i := range n.children {
		ns.add(n.children[i].element)
	}
	ns.keyFields = slices.Clip(ns.keyFields)
	n.names.Store(ns)
	return *ns
}

// add adds the names that e shows.
func (ns *names) add(e Element) {
	ns.kinds[e.kind] = true
	if e.kind == KeyKind {
		fields := keyFields(e.text)
		for f, ok := fields.next(); ok; f, ok = fields.next() {
			name := unquote(f.name)
			if i, found := slices.BinarySearch(ns.keyFields, name); !found {
				ns.keyFields = slices.Insert(ns.keyFields, i, name)
			}
		}
	}
}

func (n *node) len() int {
	if n == nil {
		return 0
	}
	count := 0
	if n.member {
		count++
	}
	for _, c := range n.children {
		count += c.node.len()
	}
	return count
}

func (n *node) walk(prefix Path, yield func(Path) bool) bool {
	if n.member && !yield(slices.Clone(prefix)) {
		return false
	}
	for _, c := range n.children {
		if !c.node.walk(append(prefix, c.element), yield) {
			return false
		}
	}
	return true
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

// sortUnique sorts children. It returns an element that is there twice, if there is one.
func sortUnique(children []child) (Element, bool) {
	byElement := func(a, b child) int { return a.element.Compare(b.element) }
	if !slices.IsSortedFunc(children, byElement) {
		slices.SortFunc(children, byElement)
	}
	for i := 1; i < len(children); i++ {
		if e := children[i].element; e == children[i-1].element {
			return e, true
		}
	}
	return Element{}, false
}
