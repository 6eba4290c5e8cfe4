package render

import (
	"slices"

	"github.com/ssaplan/primitives/projection"
)

// node is a place in an object with what there is to say of it, and the places below it.
type node[T any] struct {
	label    projection.Path // the way here from the parent
	items    []T
	children []*node[T]
}

// tree arranges items by their paths, in their order. A place with one child and nothing to say of it is joined with
// the child, so that a level of the tree is a choice.
func tree[T any](items []T, path func(T) projection.Path) []*node[T] {
	root := &node[T]{}
	for _, item := range items {
		n := root.at(path(item))
		n.items = append(n.items, item)
	}
	for _, child := range root.children {
		child.join()
	}
	if len(root.items) > 0 { // the object as a whole
		return []*node[T]{root}
	}
	return root.children
}

func (n *node[T]) at(path projection.Path) *node[T] {
	for _, e := range path {
		n = n.child(e)
	}
	return n
}

func (n *node[T]) child(e projection.Element) *node[T] {
	i := slices.IndexFunc(n.children, func(c *node[T]) bool { return c.label[0] == e })
	if i >= 0 {
		return n.children[i]
	}
	child := &node[T]{label: projection.Path{e}}
	n.children = append(n.children, child)
	return child
}

func (n *node[T]) join() {
	for len(n.items) == 0 && len(n.children) == 1 {
		only := n.children[0]
		n.label = append(n.label, only.label...)
		n.items, n.children = only.items, only.children
	}
	for _, child := range n.children {
		child.join()
	}
}
