package projection

import (
	"iter"
	"slices"
)

// Leaves yields every leaf of p.Fields that the object has, with its value, in the order of the paths: the projection
// as a flat table. What is missing is left out. Each path may be kept and changed by the caller; the values belong to p.
func (p Projection) Leaves() iter.Seq2[Path, any] {
	return func(yield func(Path, any) bool) {
		if p.Object != nil && p.Fields.root != nil {
			yieldLeaves(p.Object, p.Fields.root, nil, yield)
		}
	}
}

// yieldLeaves yields what v has of the leaves below n. It reports false if the caller wants no more.
func yieldLeaves(v any, n *node, path Path, yield func(Path, any) bool) bool {
	if n.isLeaf() {
		return yield(slices.Clone(path), v)
	}
	child := children(v, n)
	for i, c := range n.children {
		value, exists := child(i)
		if exists && !yieldLeaves(value, c.node, append(path, c.element), yield) {
			return false
		}
	}
	return true
}

// children returns a function that returns what v has at a child of n.
func children(v any, n *node) func(i int) (any, bool) {
	switch v := plain(v).(type) {
	case map[string]any:
		return func(i int) (any, bool) {
			e := n.children[i].element
			value, exists := v[e.text]
			return value, exists && e.kind == FieldKind
		}
	case []any:
		found := matchItems(v, n)
		return func(i int) (any, bool) {
			if found.itemOf[i] < 0 {
				return nil, false
			}
			return v[found.itemOf[i]], true
		}
	}
	return func(int) (any, bool) { return nil, false }
}
