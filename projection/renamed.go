package projection

import (
	"slices"
	"strings"
)

// Renamed returns the set with list items keyed as in current. It is needed after a CRD has changed the keys of a list,
// since managedFields keep the old keys. The item for an old key is the item of obj that has the same values in the old
// key fields. An old key field that is no key any more, and that the item lacks, isn't compared. If several items fit,
// an item that current has is preferred. An old key without an item is left out. Lists without items in current stay as
// they are. If no key changes, s itself is returned. The last arguments are later versions of obj: an item that obj
// lacks is looked up in them, in their order. To rename the fields of two versions, pass the same objects in the same
// order both times. Then an old key leads to the same item both times, even if a newer item would fit, too.
func (s FieldSet) Renamed(current FieldSet, obj map[string]any, also ...map[string]any) FieldSet {
	r := renamer{obj: obj, also: also, path: make(Path, 0, deep)}
	if root := r.node(s.root, current.root); root != s.root {
		return FieldSet{root}.normal()
	}
	return s
}

// WithDefaultKeys returns the set with other keys for list items that have a null in a key field. A server records such
// a null as it was sent, and then fills in the default, so no item of its object has the recorded key. The new key is
// the one that the item has in obj, a server's answer to an apply. The item is the one that has the same values in the
// other key fields. No other path may name it, neither in this set nor in the parameter all, which has the fields of
// every manager. If several items fit, the key stays as it is. A set without such keys is returned unchanged.
func (s FieldSet) WithDefaultKeys(obj map[string]any, all FieldSet) FieldSet {
	if !s.root.hasNullKey() {
		return s
	}
	return FieldSet{withDefaultKeys(s.root, s.Union(all).root, obj)}.normal()
}

// hasNullKey reports whether an item is named by a key field that is null.
func (n *node) hasNullKey() bool {
	return n != nil && slices.ContainsFunc(n.children, func(c child) bool {
		return c.element.nullFields() != nil || c.node.hasNullKey()
	})
}

// withDefaultKeys returns n with the names of v; all has the names that n has, and those of others.
func withDefaultKeys(n, all *node, v any) *node {
	if n == nil || len(n.children) == 0 {
		return n
	}
	there := all.values(v)
	kept, renamed := &node{member: n.member}, &node{}
	without := map[string]*items{} // the items of the list, by those of the key fields that aren't null
	for _, c := range n.children {
		at, _ := all.find(c.element)
		item, e := there.at(at).value, c.element
		into := kept
		if null := e.nullFields(); null != nil && there.list != nil && there.itemOf[at] < 0 {
			isNull := func(name string) bool { return slices.Contains(null, name) }
			fields := slices.DeleteFunc(slices.Clone(there.keyFields), isNull)
			id := strings.Join(fields, "\x00")
			if without[id] == nil {
				without[id] = &items{names: names{keyFields: fields}, list: there.list}
			}
			if i := without[id].only(Element{KeyKind, restricted(e, fields)}, there.isFree); i >= 0 {
				there.join(at, i)
				into, item, e = renamed, there.list[i], nameBy(mapOf(there.list[i]), there.keyFields)
			}
		}
		into.children = append(into.children, child{e, withDefaultKeys(c.node, all.child(c.element), item)})
	}
	slices.SortFunc(renamed.children, func(a, b child) int { return a.element.Compare(b.element) })
	return FieldSet{kept}.Union(FieldSet{renamed}).root
}

type renamer struct {
	obj  map[string]any
	also []map[string]any
	path Path
}

// node returns n itself if no name changes.
func (r *renamer) node(n, current *node) *node {
	if n == nil || current == nil || n == current || len(n.children) == 0 {
		return n
	}
	was, is := n.itemNames(), current.itemNames()
	hasOtherKeys := !slices.Equal(was.keyFields, is.keyFields) || n.hasShorterKeys(current)
	if was.kinds[KeyKind] && is.kinds[KeyKind] && hasOtherKeys {
		return r.list(n, current)
	}
	var children []child
	for i, c := range n.children {
		r.path = append(r.path, c.element)
		sub := r.node(c.node, current.child(c.element))
		r.path = r.path[:len(r.path)-1]
		if sub != c.node && children == nil {
			children = slices.Clone(n.children)
		}
		if children != nil {
			children[i].node = sub
		}
	}
	if children == nil {
		return n
	}
	return &node{member: n.member, children: children}
}

// hasShorterKeys reports whether some of the items of n, which current lacks, have keys with fewer fields than others:
// a record has such names of two times. Items of today that leave out key fields have such keys as well.
func (n *node) hasShorterKeys(current *node) bool {
	fields := n.itemNames().keyFields
	return len(fields) > 1 && slices.ContainsFunc(n.children, func(c child) bool {
		return c.element.kind == KeyKind && current.child(c.element) == nil && len(c.element.KeyFields()) < len(fields)
	})
}

// list returns the items of a list by their names of today.
func (r *renamer) list(n, current *node) *node {
	value, _ := Get(r.obj, r.path)
	keys := newListKeys(n, current, listOf(value))
	for _, other := range r.also {
		value, _ := Get(other, r.path)
		keys.add(listOf(value))
	}
	all := &node{member: n.member}
	for _, c := range n.children {
		e := c.element
		if keys.isOutdated(e) {
			name, found := keys.nameOf(e, true)
			if !found {
				continue
			}
			e = name
		}
		r.path = append(r.path, e)
		one := &node{children: []child{{e, r.node(c.node, current.child(e))}}}
		r.path = r.path[:len(r.path)-1]
		all = FieldSet{all}.Union(FieldSet{one}).root
	}
	return all
}

// listKeys tells by which key fields the items of a list are named today.
type listKeys struct {
	current *node
	fields  []string
	// others are fields that are no keys: those that all items have which the elements of today name.
	others map[string]bool
	// names are those that the items have by the fields of today, and by those and the ones of before.
	names map[Element]bool
	all   []string // these fields
	lists [][]any
}

// newListKeys returns the keys of a list, given elements of before and of today. It returns nil if all of these have
// the same key fields, or if the elements of today are no keys.
func newListKeys(was, current *node, list []any) *listKeys {
	if current == nil || !current.itemNames().kinds[KeyKind] {
		return nil
	}
	if slices.Equal(was.itemNames().keyFields, current.itemNames().keyFields) && !was.hasShorterKeys(current) {
		return nil
	}
	k := &listKeys{current: current, fields: current.itemNames().keyFields, names: map[Element]bool{}}
	k.all = slices.Concat(k.fields, was.itemNames().keyFields)
	k.add(list)
	return k
}

// add adds the items of one version of the list, and notes which of their fields are no keys.
func (k *listKeys) add(list []any) {
	k.lists = append(k.lists, list)
	for _, item := range list {
		m := mapOf(item)
		name := nameBy(m, k.fields)
		k.names[name], k.names[nameBy(m, k.all)] = true, true
		if k.current.child(name) != nil {
			k.addItem(m)
		}
	}
}

// addItem notes an item that an element of today names.
func (k *listKeys) addItem(item map[string]any) {
	if k.others == nil {
		k.others = map[string]bool{}
		for field := range item {
			k.others[field] = !slices.Contains(k.fields, field)
		}
	}
	for field := range k.others {
		_, has := item[field]
		k.others[field] = k.others[field] && has
	}
}

// nameBy returns the key of an item that has some fields, as far as it has them.
func nameBy(item map[string]any, fields []string) Element {
	key := map[string]any{}
	for _, field := range fields {
		if v, has := item[field]; has {
			key[field] = v
		}
	}
	name, _ := Key(key) // one that JSON can't express is no name
	return name
}

// isOutdated reports whether an element names its item by other key fields than those of today. Items may leave out key
// fields, and their elements too.
func (k *listKeys) isOutdated(e Element) bool {
	if k == nil || e.kind != KeyKind {
		return false
	}
	for field := range e.KeyFields() {
		if k.others[field] {
			return true
		}
	}
	return !k.names[e]
}

// nameOf returns the name of today of the item that an outdated element named, in the first version of the list with
// such an item. Of several it is the first that an element of today names, or the first that none names if isCurrent is
// false, and otherwise the first of all.
func (k *listKeys) nameOf(e Element, isCurrent bool) (name Element, found bool) {
	key := e.KeyFields()
	for _, list := range k.lists {
		for _, item := range list {
			m := mapOf(item)
			if !hasKey(m, key, k.fields) {
				continue
			}
			is := nameBy(m, k.fields)
			if (k.current.child(is) != nil) == isCurrent {
				return is, true
			}
			if !found {
				name, found = is, true
			}
		}
		if found {
			break
		}
	}
	return name, found
}

// hasKey reports whether an item has the values of a key: of all of its fields that are keys, or that the item has.
func hasKey(item, key map[string]any, keyFields []string) bool {
	same := 0
	for field, v := range key {
		is, has := item[field]
		switch {
		case has && equal(is, v):
			same++
		case has || slices.Contains(keyFields, field):
			return false
		}
	}
	return same > 0
}
