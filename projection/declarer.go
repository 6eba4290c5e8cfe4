package projection

import (
	"fmt"
	"slices"
)

// declarer finds the fields of a manifest as structured-merge-diff does (ToFieldSet), with shapes in place of a schema.
type declarer struct {
	path Path
	// guess takes a list or map of unknown type for an atomic list or a structure, where it would be an error otherwise. It
	// finds what there is and not what would be recorded, in which items and entries are owned beside what is in them.
	guess bool
}

// object returns all fields of obj. If it guesses it gives no error.
func (d *declarer) object(obj map[string]any, s *shape) (FieldSet, error) {
	root, err := d.fields(obj, s)
	if err != nil {
		return FieldSet{}, err
	}
	return FieldSet{root}.normal(), nil
}

// value returns the fields of v, which are none if it is an associative list without items.
func (d *declarer) value(v any, s *shape) (*node, error) {
	v = plain(v)
	m, isMap := v.(map[string]any)
	list, isList := v.([]any)
	switch {
	case !isMap && !isList, isMap && len(m) == 0, s != nil && s.whole && !s.granular():
		return leaf, nil
	case isMap && (d.guess || s.granular()):
		return d.fields(m, s)
	case isList && s.granular():
		return d.list(list, s)
	case d.guess:
		return leaf, nil
	}
	return nil, fmt.Errorf("projection: %w: nobody who owns %s has revealed its type", ErrNoSchema, d.path)
}

func (d *declarer) fields(m map[string]any, s *shape) (*node, error) {
	n := &node{}
	for _, name := range sortedKeys(m) {
		e, below := Field(name), s.child(name)
		sub, err := d.at(e, m[name], below)
		if err != nil {
			return nil, err
		}
		if below != nil && below.entry && !d.guess {
			sub = asMember(sub)
		}
		if !sub.empty() {
			n.children = append(n.children, child{e, sub})
		}
	}
	return n, nil
}

func (d *declarer) at(e Element, v any, s *shape) (*node, error) {
	d.path = append(d.path, e)
	sub, err := d.value(v, s)
	d.path = d.path[:len(d.path)-1]
	return sub, err
}

// asMember returns n with its path itself in the set.
func asMember(n *node) *node {
	if n.empty() {
		return leaf
	}
	return &node{member: true, children: n.children}
}

// list returns the items of a list that has keys or is a set; when guessing, the whole list if it can't be such a list.
func (d *declarer) list(list []any, s *shape) (*node, error) {
	n, err := d.items(list, s)
	if d.guess && (err != nil || n.empty()) {
		return leaf, nil
	}
	return n, err
}

func (d *declarer) items(list []any, s *shape) (*node, error) {
	n := &node{}
	for i, item := range list {
		item = plain(item)
		e, err := s.element(item)
		if err != nil {
			return nil, fmt.Errorf("projection: item %d of %s: %w", i, d.path, err)
		}
		sub, err := d.item(e, item, s.items)
		if err != nil {
			return nil, err
		}
		if !d.guess || sub.empty() {
			sub = asMember(sub)
		}
		n.children = append(n.children, child{e, sub})
	}
	e, twice := sortUnique(n.children)
	if twice && !d.guess {
		return nil, fmt.Errorf("projection: %s stands twice", append(slices.Clone(d.path), e))
	}
	n.children = slices.CompactFunc(n.children, func(a, b child) bool { return a.element == b.element })
	return n, nil
}

// item returns the fields of an item; one that is a map has fields even if nobody has owned any.
func (d *declarer) item(e Element, item any, s *shape) (*node, error) {
	m, isMap := item.(map[string]any)
	if !isMap || s != nil && s.whole && !s.granular() {
		return leaf, nil
	}
	d.path = append(d.path, e)
	sub, err := d.fields(m, s)
	d.path = d.path[:len(d.path)-1]
	return sub, err
}
