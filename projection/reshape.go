package projection

import "slices"

// Renaming is a list item whose key changed because the CRD changed the keys of the list. Both paths end with the item.
type Renaming struct{ Was, Is Path }

// Reshaped adapts p, which was made with an older schema of the kind, to the current schema. The managedFields of obj
// show the current schema. The parameter today holds all fields in these managedFields. The parameter called names
// holds only those of them whose list keys are certainly the current ones. isOwn says whether names are the fields of
// the manager of p, and not those of other managers.
//
//   - If a map or list is a leaf in p, and the parameter today has fields below it, it gets the fields for which p has
//     values.
//   - A map or list that has fields below it in p, and is a leaf in today, becomes a leaf, unless it is an empty map in
//     obj.
//   - A list item gets its current key; see [FieldSet.Renamed]. If its value in p lacks a key field, the field is
//     added. An item that obj doesn't have keeps its old key.
//
// It returns the renamings of list items, outer items before inner ones. If nothing changes, it returns p.
func (p Projection) Reshaped(today, names FieldSet, isOwn bool, obj map[string]any) (Projection, []Renaming) {
	r := reshaper{values: NewObject(p.Object, p.Fields), live: NewObject(obj, names), isOwn: isOwn}
	root := r.node(p.Fields.root, today.root, names.root)
	if root == p.Fields.root {
		return p, nil
	}
	if len(r.renamings) > 0 {
		p.Object, _ = deepCopy(p.Object).(map[string]any)
		values := NewObject(p.Object, p.Fields)
		for _, renamed := range r.renamings {
			item, _ := values.Get(renamed.Was)
			fields, _ := item.(map[string]any)
			for name, v := range renamed.Is[len(renamed.Is)-1].KeyFields() {
				if _, has := fields[name]; !has && fields != nil {
					fields[name] = v
				}
			}
		}
	}
	p.Fields = FieldSet{root}.normal()
	return p, r.renamings
}

type reshaper struct {
	values, live *Object // of the older schema, and of today
	was, is      Path    // the place, with the names of both
	isOwn        bool
	renamings    []Renaming
}

// node returns n itself if nothing changes at and below it.
func (r *reshaper) node(n, today, names *node) *node {
	isMetadata := len(r.is) == 1 && r.is[0] == Field("metadata") // whose schema never changes
	switch {
	case n == nil || today == nil && names == nil || isMetadata:
		return n
	case n.isLeaf():
		return r.partsOfLeaf(n, today)
	case today.isLeaf():
		v, _ := r.live.Get(r.is)
		if _, isList := v.([]any); isList || isFilled(v) { // an empty map is a leaf in any shape
			return leaf
		}
		return n
	}
	var keys *listKeys // those of a list, if they changed
	if names != nil && n.itemNames().kinds[KeyKind] {
		list, _ := r.live.Get(r.is)
		keys = newListKeys(n, names, listOf(list))
	}
	children, changed := make([]child, 0, len(n.children)), false
	for _, c := range n.children {
		is := r.child(c, keys, today, names)
		changed = changed || is != c
		children = append(children, is)
	}
	if !changed {
		return n
	}
	return &node{member: n.member, children: joinedChildren(children)}
}

// partsOfLeaf returns the fields of a leaf that has fields below it today, and otherwise n itself.
func (r *reshaper) partsOfLeaf(n, today *node) *node {
	if today == nil || today.isLeaf() {
		return n
	}
	if v, _ := r.values.Get(r.was); isContainer(v) {
		if parts := partsOf(v, today); parts != nil {
			return parts
		}
	}
	return n
}

// child returns c with the name of today, and with what is below it today. The other nodes are those of the parent.
func (r *reshaper) child(c child, keys *listKeys, today, names *node) child {
	e := c.element
	if keys.isOutdated(e) {
		if name, found := keys.nameOf(e, r.isOwn); found {
			e = name
		}
	}
	r.was, r.is = append(r.was, c.element), append(r.is, e)
	if e != c.element {
		r.renamings = append(r.renamings, Renaming{slices.Clone(r.was), slices.Clone(r.is)})
	}
	sub := r.node(c.node, today.child(e), names.child(e))
	r.was, r.is = r.was[:len(r.was)-1], r.is[:len(r.is)-1]
	return child{e, sub}
}

// joinedChildren returns the children in their order, with one child for all of the same element.
func joinedChildren(children []child) (out []child) {
	slices.SortStableFunc(children, func(a, b child) int { return a.element.Compare(b.element) })
	for _, c := range children {
		if last := len(out) - 1; last >= 0 && out[last].element == c.element {
			out[last].node = combineNodes(out[last].node, c.node, func(a, b bool) bool { return a || b })
		} else {
			out = append(out, c)
		}
	}
	return out
}

// partsOf returns the fields of v, which was a leaf, given what is known of them today. It returns nil for values of
// which a server may record nothing, such as an empty list, and for a value of another type than that of today.
func partsOf(v any, today *node) *node {
	isLeafToday := today != nil && len(today.children) == 0
	v = plain(v)
	if isLeafToday || !isContainer(v) && v != nil {
		return leaf
	}
	switch v := v.(type) {
	case map[string]any:
		return partsOfMap(v, today)
	case []any:
		if today == nil && len(v) > 0 {
			return leaf // as a list is whose keys aren't known
		}
		return partsOfList(v, today)
	}
	return nil
}

func partsOfMap(m map[string]any, today *node) *node {
	var children []child
	for name, v := range m {
		if parts := partsOf(v, today.child(Field(name))); parts != nil {
			children = append(children, child{Field(name), parts})
		}
	}
	if children == nil || today != nil && !today.itemNames().kinds[FieldKind] {
		return nil
	}
	return &node{children: joinedChildren(children)}
}

func partsOfList(list []any, today *node) *node {
	var children []child
	for _, item := range list {
		m, isMap := plain(item).(map[string]any)
		switch names := today.itemNames(); {
		case names.kinds[KeyKind] && isMap:
			e := nameBy(m, names.keyFields)
			of := &node{member: true}
			if fields := partsOfMap(m, today.child(e)); fields != nil {
				of.children = fields.children
			}
			children = append(children, child{e, of})
		case names.kinds[ValueKind]:
			e, err := Value(item)
			if err != nil {
				return nil
			}
			children = append(children, child{e, leaf})
		default:
			return nil
		}
	}
	if children == nil {
		return nil
	}
	return &node{children: joinedChildren(children)}
}
