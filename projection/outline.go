package projection

import (
	"fmt"
	"slices"
)

// Outline returns the leaves of what the objects have: every field that one of them has a value at, except what only the server writes into the metadata, so that
// objects of one kind can be compared as a whole: as [Diff] of what [Project] takes from each. Whether a list has keys, is
// a set or is atomic is what the managedFields of all of the objects reveal; a list of which they reveal nothing is taken
// for atomic. An entry of managedFields that can't be read is an error.
func Outline(objects ...map[string]any) (FieldSet, error) {
	var topology FieldSet
	for _, obj := range objects {
		owned, err := owned(obj)
		if err != nil {
			return FieldSet{}, err
		}
		topology = topology.Union(owned)
	}
	var all FieldSet
	for _, obj := range objects {
		if len(obj) > 0 {
			all = all.Union(FieldSet{outline(obj, topology.root)})
		}
	}
	// A map that is empty in one object is no value of its own where another has something in it.
	return all.Leaves().Without(bookkeeping), nil
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

// bookkeeping is the metadata that only the server writes.
var bookkeeping = func() FieldSet {
	var paths []Path
	for _, name := range serverOwned {
		paths = append(paths, metadataField(name))
	}
	return NewFieldSet(paths...)
}()

// owned returns the fields that anybody owns by their names in obj's apiVersion.
func owned(obj map[string]any) (FieldSet, error) {
	var all FieldSet
	metadata, _ := obj["metadata"].(map[string]any)
	entries, _ := metadata["managedFields"].([]any)
	for _, item := range entries {
		entry, _ := item.(map[string]any)
		if entry["apiVersion"] != obj["apiVersion"] {
			continue
		}
		set, err := entryFields(entry)
		if err != nil {
			return FieldSet{}, fmt.Errorf("projection: managedFields of %q: %w", fmt.Sprint(entry["manager"]), err)
		}
		all = all.Union(set)
	}
	return all, nil
}

// outline returns the fields of v, of which n is what is owned.
func outline(v any, n *node) *node {
	switch v := v.(type) {
	case map[string]any:
		if len(v) > 0 && !n.isLeaf() {
			return outlineFields(v, n)
		}
	case []any:
		if out := outlineItems(v, n); out != nil {
			return out
		}
	}
	return leaf
}

func outlineFields(m map[string]any, n *node) *node {
	out := &node{children: make([]child, 0, len(m))}
	for _, name := range sortedKeys(m) {
		e := Field(name)
		out.children = append(out.children, child{e, outline(m[name], n.child(e))})
	}
	return out
}

// outlineItems returns the items of a list that has keys or is a set, and nil if it is atomic or doesn't hold what such a
// list holds.
func outlineItems(list []any, n *node) *node {
	if n == nil || len(n.children) == 0 || len(list) == 0 {
		return nil
	}
	out := &node{children: make([]child, 0, len(list))}
	for _, item := range list {
		e, ok := itemElement(item, n)
		if !ok {
			return nil
		}
		out.children = append(out.children, child{e, outline(item, n.child(e))})
	}
	slices.SortFunc(out.children, func(a, b child) int { return a.element.Compare(b.element) })
	out.children = slices.CompactFunc(out.children, func(a, b child) bool { return a.element == b.element })
	return out
}

// itemElement returns the name of an item of a list of which n names others.
func itemElement(item any, n *node) (Element, bool) {
	switch n.children[0].element.kind {
	case KeyKind:
		m, _ := item.(map[string]any)
		fields := map[string]any{}
		for _, name := range presentNames(m, n.items().keyNames) {
			fields[name] = m[name]
		}
		e, err := Key(fields)
		return e, err == nil && len(fields) > 0
	case ValueKind:
		e, err := Value(item)
		return e, err == nil
	}
	return Element{}, false
}
