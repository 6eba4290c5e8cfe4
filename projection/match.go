package projection

import (
	"slices"
	"strings"
)

// Everything in this package that finds items of lists does it here, by these rules:
//
//   - A key names the item that has the same values in the key fields, a value the item that equals it, and a position
//     the item there, if neither a key nor a value names that. The key fields are those of all elements that are known
//     for the list: since Kubernetes 1.34 items of one list may leave out keys that have no default, and are other
//     items than those that have them.
//   - Of several items with one name the first counts.
//   - If an element names no item as it is written, it names one in another spelling: a number beyond 2^53 that is
//     rounded in the element, or an empty text that the item leaves out. A server writes such numbers exactly at first,
//     and as rounded floats once it has read its own managedFields; and it leaves out of its objects a key field whose
//     default is empty, as the name of an imagePullSecret. So 9007199254740992 names the item 9007199254740993, unless
//     the list has 9007199254740992 too, or 9007199254740993 is among the elements. The exact number of a record never
//     names an item with the rounded one.
//   - In a manifest, items may leave out key fields that have any default, or have null there. Such an item is named by
//     the element that has the same values in the others and names no other item; if there are several, first by one
//     whose record lacks the fields that the item leaves out.

// matches are the items of a list that the children of a node name.
type matches struct {
	itemOf []int // for each child the item that it names, or -1
	child  []int // for each item the child that names it, or -1; for all items of one name
	// keyFields are the names of the key fields of all items, sorted.
	keyFields []string
}

// isFirst reports whether a child names the item, and none before it.
func (m matches) isFirst(item int) bool { return m.child[item] >= 0 && m.itemOf[m.child[item]] == item }

// repeated reports whether the child names several items.
func (m matches) repeated() []bool {
	var out []bool
	for item, child := range m.child {
		if child >= 0 && m.itemOf[child] != item {
			if out == nil {
				out = make([]bool, len(m.itemOf))
			}
			out[child] = true
		}
	}
	return out
}

// match finds the items of a server's list that the children of n name.
func (n *node) match(list []any) matches {
	x := items{names: n.itemNames(), list: list}
	return n.matchItems(&x)
}

// matchManifest finds the items of a manifest's list that the children of n name.
func (n *node) matchManifest(list []any) matches {
	x := items{names: n.itemNames(), list: list}
	m := n.matchItems(&x)
	n.matchLeftOut(&x, m)
	return m
}

func (n *node) matchItems(x *items) matches {
	both := make([]int, len(n.children)+len(x.list))
	for i := range both {
		both[i] = -1
	}
	m := matches{both[:len(n.children):len(n.children)], both[len(n.children):], x.keyFields}
	var buf [many]int
	left := slices.Grow(buf[:0], len(n.children)) // the children that name no item yet
	for i := range n.children {
		left = append(left, i)
	}
	for s := range spellings {
		if len(x.list) <= many {
			n.matchFew(x, m, s, left)
		} else {
			n.matchMany(x, m, s, left)
		}
		left = slices.DeleteFunc(left, func(i int) bool { return m.itemOf[i] >= 0 })
	}
	for i, c := range n.children {
		if c.element.kind == IndexKind && c.element.Index() < len(x.list) {
			m.join(i, c.element.Index())
		}
	}
	return m
}

// many is the number of items from which on finding them by an index of their names is faster than comparing each with
// each child.
const many = 16

// isFree reports whether no child names the item.
func (m matches) isFree(item int) bool { return m.child[item] < 0 }

// matchFew compares the name of each item with those of some children.
func (n *node) matchFew(x *items, m matches, s spelling, children []int) {
	if len(children) == 0 {
		return
	}
	var buf [128]byte
	for item, v := range x.list {
		for kind := KeyKind; kind <= ValueKind; kind++ {
			if !x.kinds[kind] {
				continue
			}
			name := appendName(buf[:0], plain(v), kind, s, x.keyFields)
			for _, i := range children {
				if e := &n.children[i].element; e.text == string(name) && e.kind == kind {
					m.join(i, item)
				}
			}
		}
	}
}

// matchMany finds the items of some children by name.
func (n *node) matchMany(x *items, m matches, s spelling, children []int) {
	for _, i := range children {
		for item := range x.named(n.children[i].element, s) {
			m.join(i, item)
		}
	}
}

// join notes that the child names the item, unless another does.
func (m matches) join(child, item int) {
	if m.child[item] >= 0 {
		return
	}
	m.child[item] = child
	if m.itemOf[child] < 0 {
		m.itemOf[child] = item
	}
}

// matchLeftOut adds the items that leave out key fields. Children that record what an item leaves out come last.
func (n *node) matchLeftOut(x *items, m matches) {
	if !slices.Contains(m.itemOf, -1) { // as in most lists
		return
	}
	for _, group := range x.leftOut().groups {
		for _, recorded := range []bool{false, true} {
			for i, c := range n.children {
				if c.node.hasAny(group.without) == recorded {
					m.joinFree(i, group, c.element)
				}
			}
		}
	}
}

// joinFree notes that the child names the next item of the group that it can name and no other does.
func (m matches) joinFree(child int, group leftOutGroup, e Element) {
	key := restricted(e, group.with)
	for len(group.items[key]) > 0 && m.itemOf[child] < 0 {
		m.join(child, group.items[key][0])
		group.items[key] = group.items[key][1:]
	}
}

// hasAny reports whether one of the fields is recorded.
func (n *node) hasAny(fields []string) bool {
	return slices.ContainsFunc(fields, func(name string) bool { return n.child(Element{FieldKind, name}) != nil })
}

// values are what a map or list has at the children of a node.
type values struct {
	children []child
	fields   map[string]any
	list     []any
	matches
}

// values returns what v has at the children of n.
func (n *node) values(v any) values {
	out := values{children: n.children}
	switch v := plain(v).(type) {
	case map[string]any:
		out.fields = v
	case []any:
		out.list, out.matches = v, n.match(v)
	}
	return out
}

// at returns what is at a child.
func (vs values) at(i int) side {
	switch e := vs.children[i].element; {
	case e.kind == FieldKind:
		v, exists := vs.fields[e.text]
		return side{v, exists}
	case vs.list != nil && vs.itemOf[i] >= 0:
		return side{vs.list[vs.itemOf[i]], true}
	}
	return side{}
}

// side is the value that an object has at a path, if it has one.
type side struct {
	value  any
	exists bool
}

// isMap reports whether the value is a map or, being absent, may stand for an empty one.
func (s side) isMap() bool {
	_, ok := s.value.(map[string]any)
	return ok || !s.exists
}

// isList reports whether the value is a list or, being absent, may stand for an empty one.
func (s side) isList() bool {
	_, ok := s.value.([]any)
	return ok || !s.exists
}

func (s side) fields() map[string]any {
	m, _ := s.value.(map[string]any)
	return m
}

func (s side) items() []any {
	l, _ := s.value.([]any)
	return l
}

// listIndex finds single items of a list by elements that needn't be children of the list's node.
type listIndex struct {
	items
	matches
	n        *node
	manifest bool
	// others are the items by other key fields than those of the children, by the names of these.
	others map[string]*items
	// required are the key fields that all children with keys have; nil if they weren't needed.
	required []string
}

func newListIndex(list []any, n *node, manifest bool) *listIndex {
	x := &listIndex{items: items{names: n.itemNames(), list: list}, n: n, manifest: manifest,
		others: map[string]*items{}}
	x.matches = n.matchItems(&x.items)
	if manifest {
		n.matchLeftOut(&x.items, x.matches)
	}
	return x
}

// find returns the item that e names, or -1. If e is none of the children, it names none that a child names.
func (x *listIndex) find(e Element) int {
	if i, known := x.n.find(e); known {
		return x.itemOf[i]
	}
	if e.kind == IndexKind {
		if i := e.Index(); i < len(x.list) {
			return i
		}
		return -1
	}
	return x.firstOf(x.by(e, x.items.names), e, x.isFree)
}

// firstOf returns the first of the items that is free and that e names, or -1.
func (x *listIndex) firstOf(by *items, e Element, free func(item int) bool) int {
	found := by.first(e, free)
	if found < 0 && x.manifest {
		return by.firstLeftOut(e, free)
	}
	return found
}

// findPart returns the first item that has the key fields of e, whatever others it has, or -1.
func (x *listIndex) findPart(e Element) int {
	return x.by(e, names{}).first(e, always)
}

// by returns the items by the key fields of e and those that are known.
func (x *listIndex) by(e Element, known names) *items {
	known.keyFields = slices.Clone(known.keyFields)
	known.add(e)
	if slices.Equal(known.keyFields, x.items.keyFields) {
		return &x.items
	}
	id := strings.Join(known.keyFields, "\x00")
	if x.others[id] == nil {
		x.others[id] = &items{names: known, list: x.list}
	}
	return x.others[id]
}

// name returns the element that names an item: the child that does, or one like the children that names no item
// before it, or else e.
func (x *listIndex) name(item int, e Element) Element {
	if x.isFirst(item) {
		return x.n.children[x.child[item]].element
	}
	if like := x.like(plain(x.list[item])); x.items.first(like, always) == item {
		return like
	}
	return e
}

// node returns what the fields have of an item, nil if they have nothing.
func (x *listIndex) node(item int) *node {
	if child := x.child[item]; child >= 0 {
		return x.n.children[child].node
	}
	return nil
}

func always(int) bool { return true }

// like returns the element that names an item as the children name others: by those of the key fields that it has, if
// it has all that every key has, or by value. Else it returns a field, which names no item.
func (x *listIndex) like(item any) Element {
	m, isMap := item.(map[string]any)
	if !x.kinds[KeyKind] && x.kinds[ValueKind] {
		e, _ := Value(item)
		return e
	}
	lacks := func(name string) bool { _, exists := m[name]; return !exists }
	if !isMap || slices.ContainsFunc(x.requiredFields(), lacks) {
		return Element{}
	}
	key := map[string]any{}
	for _, name := range x.items.keyFields {
		if v, exists := m[name]; exists {
			key[name] = v
		}
	}
	if len(key) == 0 {
		return Element{}
	}
	e, _ := Key(key)
	return e
}

func (x *listIndex) requiredFields() []string {
	if x.required == nil {
		x.required = append([]string{}, x.items.keyFields...)
		for _, c := range x.n.children {
			if c.element.kind == KeyKind {
				fields := c.element.KeyFields()
				x.required = slices.DeleteFunc(x.required,
					func(name string) bool { _, has := fields[name]; return !has })
			}
		}
	}
	return x.required
}

// put puts an item that e names behind the others.
func (x *listIndex) put(item any, e Element) {
	at, child := len(x.list), -1
	if i, known := x.n.find(e); known {
		child = i
		x.itemOf[i] = at
	}
	x.child = append(x.child, child)
	x.items.put(item)
	for _, by := range x.others {
		by.put(item)
	}
}

// fits reports whether e would name the item, were it in the list.
func (x *listIndex) fits(item any, e Element) bool {
	if e.kind == IndexKind {
		return true
	}
	by := items{names: x.by(e, x.items.names).names, list: []any{item}}
	return x.firstOf(&by, e, always) == 0
}
