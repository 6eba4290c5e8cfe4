package projection

import (
	"iter"
	"slices"
	"strings"
)

// FieldSet is an immutable set of paths. The zero FieldSet is empty. Sets are safe for concurrent use.
//
// If the set has other paths below a path (such as that of a map), the path means the map or list item itself, without
// its content: only the paths below it say which content belongs to the set. A path without any below it (a leaf) means
// the whole value there.
type FieldSet struct {
	root *node
}

// NewFieldSet returns the set of the given paths.
func NewFieldSet(paths ...Path) FieldSet {
	sorted := slices.Clone(paths)
	slices.SortFunc(sorted, Path.Compare)
	return FieldSet{buildNode(sorted, 0)}.normal()
}

// normal makes all empty sets the same, so that an empty set has no root.
func (s FieldSet) normal() FieldSet {
	if s.root.empty() {
		return FieldSet{}
	}
	return s
}

// Empty reports whether s has no path.
func (s FieldSet) Empty() bool { return s.root == nil }

// Len returns the number of paths in s.
func (s FieldSet) Len() int {
	return s.root.len()
}

// Has reports whether p itself is in s.
func (s FieldSet) Has(p Path) bool {
	n := s.root.at(p)
	return n != nil && n.member
}

// Covers reports whether p belongs to s: p is in s, or it is below a leaf of s, which means a whole value.
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

// Touches reports whether p is in s, or below or above a path of s.
func (s FieldSet) Touches(p Path) bool {
	return s.Covers(p) || !s.Under(p).Empty()
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

// LeavesNamed returns the leaves of the set that are fields whose name is wanted.
func (s FieldSet) LeavesNamed(wanted func(name string) bool) []Path {
	if s.root == nil {
		return nil
	}
	return s.root.leavesNamed(wanted, make(Path, 0, deep), nil)
}

func (n *node) leavesNamed(wanted func(string) bool, path Path, found []Path) []Path {
	for _, c := range n.children {
		at := append(path, c.element)
		if !c.node.isLeaf() {
			found = c.node.leavesNamed(wanted, at, found)
		} else if c.element.kind == FieldKind && wanted(c.element.text) {
			found = append(found, slices.Clone(at))
		}
	}
	return found
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

// Above returns the leaves of s that have paths of other below them: s means the whole value there, and other only
// parts of it.
func (s FieldSet) Above(other FieldSet) FieldSet { return FieldSet{above(s.root, other.root)} }

func above(n, other *node) *node {
	if n == nil || other == nil || n == other { // sets share what they have in common
		return nil
	}
	if len(n.children) == 0 {
		if len(other.children) == 0 {
			return nil
		}
		return n
	}
	var out *node
	for _, c := range n.children {
		if found := above(c.node, other.child(c.element)); found != nil {
			if out == nil {
				out = &node{}
			}
			out.children = append(out.children, child{c.element, found})
		}
	}
	return out
}

// WithItems returns s with the paths of all list elements that have paths of s below them. Then [Diff] shows an element
// as added or removed exactly if the list has gained or lost it, even if the element has no values at those paths.
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

// Same reports whether both share memory, as a copy without changes does. Other equal sets aren't the same.
func (s FieldSet) Same(other FieldSet) bool { return s.root == other.root }

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
