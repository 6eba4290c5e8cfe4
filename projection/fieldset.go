package projection

import (
	"iter"
	"slices"
	"strings"
	"sync/atomic"
)

// FieldSet is an immutable set of paths. The zero FieldSet is empty. Sets share memory with each other, which nobody
// can observe; they are safe for concurrent use.
//
// A path in the set stands for the place itself: whether what lies below it belongs to it too depends on the paths
// below it. A path without any below it (a leaf) stands for the whole value there.
type FieldSet struct {
	root *node
}

// node is what the set knows below one path. Nodes are never changed once they can be reached from a FieldSet, but for
// the index, which is made when a list is first matched with the children.
type node struct {
	member   bool
	children []child // sorted by Element.Compare
	index    atomic.Pointer[itemIndex]
}

type child struct {
	element Element
	node    *node
}

// leaf is the node of a path that is a member and has no path below it.
var leaf = &node{member: true}

// NewFieldSet returns the set of the given paths.
func NewFieldSet(paths ...Path) FieldSet {
	sorted := slices.Clone(paths)
	slices.SortFunc(sorted, Path.Compare)
	return FieldSet{buildNode(sorted, 0)}.normal()
}

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

// normal makes all empty sets the same, so that an empty set has no root.
func (s FieldSet) normal() FieldSet {
	if s.root.empty() {
		return FieldSet{}
	}
	return s
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

// Empty reports whether s has no path.
func (s FieldSet) Empty() bool { return s.root == nil }

// Len returns the number of paths in s.
func (s FieldSet) Len() int {
	return s.root.len()
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

// Has reports whether p itself is in s.
func (s FieldSet) Has(p Path) bool {
	n := s.root.at(p)
	return n != nil && n.member
}

// Covers reports whether p belongs to s: it is in s, or it lies below a leaf of s, which stands for its whole value.
func (s FieldSet) Covers(p Path) bool {
	n := s.root
	for _, e := range p {
		if n.isLeaf() {
			return true
		}
		n = n.child(e)
	}
	return n != nil && n.member
}

// Under returns the paths of s at or below p.
func (s FieldSet) Under(p Path) FieldSet {
	n := s.root.at(p)
	if n.empty() {
		return FieldSet{}
	}
	for _, e := range slices.Backward(p) {
		n = &node{children: []child{{e, n}}}
	}
	return FieldSet{n}
}

// All yields the paths of s in the order of [Path.Compare]. Each path may be kept and changed by the caller.
func (s FieldSet) All() iter.Seq[Path] {
	return func(yield func(Path) bool) {
		if s.root != nil {
			s.root.walk(nil, yield)
		}
	}
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

// Leaves returns the paths of s that have no other path of s below them.
func (s FieldSet) Leaves() FieldSet {
	if s.root == nil {
		return s
	}
	return FieldSet{s.root.leaves()}
}

func (n *node) leaves() *node {
	if len(n.children) == 0 {
		return n
	}
	out := &node{children: make([]child, len(n.children))}
	for i, c := range n.children {
		out.children[i] = child{c.element, c.node.leaves()}
	}
	return out
}

// WithItems returns s with each element of an associative list that has paths of s below it. In a difference such an
// element comes or goes only if the list has it or not, whatever it has at those paths.
func (s FieldSet) WithItems() FieldSet {
	if s.root == nil {
		return s
	}
	return FieldSet{s.root.withItems(false)}
}

func (n *node) withItems(isItem bool) *node {
	if len(n.children) == 0 {
		return n
	}
	out := &node{member: n.member || isItem, children: make([]child, len(n.children))}
	for i, c := range n.children {
		out.children[i] = child{c.element, c.node.withItems(c.element.kind == KeyKind)}
	}
	return out
}

// Equal reports whether s and other have the same paths.
func (s FieldSet) Equal(other FieldSet) bool { return equalNodes(s.root, other.root) }

func equalNodes(a, b *node) bool {
	if a == b {
		return true
	}
	if a == nil || b == nil || a.member != b.member {
		return false
	}
	return slices.EqualFunc(a.children, b.children, func(x, y child) bool {
		return x.element == y.element && equalNodes(x.node, y.node)
	})
}

// String returns the paths of s, one a line.
func (s FieldSet) String() string {
	var b strings.Builder
	for p := range s.All() {
		b.WriteString(p.String())
		b.WriteByte('\n')
	}
	return b.String()
}
