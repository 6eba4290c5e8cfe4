package render

import (
	"slices"

	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/ssaplan/explain"
)

// node is a place in an object with the changes there and below it.
type node struct {
	label    projection.Path // the way here from the parent
	changes  []explain.Change
	children []*node
}

// tree arranges changes by their paths, in their order. A place with one child and no change of its own is joined with
// the child, so that a level of the tree is a choice.
func tree(changes []explain.Change) []*node {
	root := &node{}
	for _, c := range changes {
		root.at(c.Path).changes = append(root.at(c.Path).changes, c)
	}
	for _, child := range root.children {
		child.join()
	}
	if len(root.changes) > 0 { // the object as a whole
		return []*node{root}
	}
	return root.children
}

func (n *node) at(path projection.Path) *node {
	for _, e := range path {
		n = n.child(e)
	}
	return n
}

func (n *node) child(e projection.Element) *node {
	i := slices.IndexFunc(n.children, func(c *node) bool { return c.label[0] == e })
	if i >= 0 {
		return n.children[i]
	}
	child := &node{label: projection.Path{e}}
	n.children = append(n.children, child)
	return child
}

func (n *node) join() {
	for len(n.changes) == 0 && len(n.children) == 1 {
		only := n.children[0]
		n.label = append(n.label, only.label...)
		n.changes, n.children = only.changes, only.children
	}
	for _, child := range n.children {
		child.join()
	}
}
