package projection

import (
	"slices"
	"strconv"
	"strings"
)

// This file is the only place that finds the items of lists. The rules:
//
//  1. A key names the item that has the same values in the key fields, a value the item that equals it, and a position the
//     item there, if neither key nor value names it. Which fields are keys is learnt from all elements that are known for the
//     list: since Kubernetes 1.34 items of one list may leave out keys that have no default, and are other items than those
//     that have them.
//  2. Of several items with one name the first counts.
//  3. An item can have its name in another spelling than the element. It does so only if the element names no item that is
//     spelled as it is:
//     a) A server writes numbers beyond 2^53 exactly at first, and as rounded floats once it has read its own managedFields.
//     So an item's number is its own name, and when rounded another spelling of it: 9007199254740992 names the item
//     9007199254740993 unless the list has 9007199254740992 too. It isn't so the other way round, since no server makes an
//     exact number of a rounded one.
//     b) A server's object leaves out a key field whose default is the empty text, as the name of an imagePullSecret.
//  4. In a manifest, items may leave out key fields that have any default. Such an item is named by the element that has the
//     same values in the others and names no other item; if there are several, by the first of those whose left-out fields
//     are recorded neither.

// names is what the elements of a list tell about the names of its items.
type names struct {
	keyFields []string // sorted
	// kinds are those of the elements.
	kinds [IndexKind + 1]bool
	// rounded and emptied report whether items may be spelled so.
	rounded, emptied bool
}

// learn adds what the children of n tell.
func (ns *names) learn(n *node) {
	for i := range n.children {
		ns.add(n.children[i].element)
	}
}

// add adds what e tells.
func (ns *names) add(e Element) {
	ns.kinds[e.kind] = true
	if e.kind == KeyKind {
		fields := keyFields(e.text)
		for f, ok := fields.next(); ok; f, ok = fields.next() {
			ns.addKeyField(f.name)
			ns.emptied = ns.emptied || f.value == `""`
		}
	}
	ns.rounded = ns.rounded || e.kind != FieldKind && hasLongNumber(e.text)
}

// addKeyField adds a name, given as JSON.
func (ns *names) addKeyField(text string) {
	for _, name := range ns.keyFields {
		if len(text) == len(name)+2 && text[1:len(text)-1] == name {
			return // which is so for all but the first, as a rule
		}
	}
	name := unquote(text)
	if i, found := slices.BinarySearch(ns.keyFields, name); !found {
		ns.keyFields = slices.Insert(ns.keyFields, i, name)
	}
}

// hasLongNumber reports whether JSON text has as many digits in a row as 2^53 has.
func hasLongNumber(text string) bool {
	const long = len("9007199254740992")
	for end := long - 1; end < len(text); {
		start := end
		for start > end-long && text[start] >= '0' && text[start] <= '9' {
			start--
		}
		if start == end-long {
			return true
		}
		end = start + long
	}
	return false
}

// spelling is a way in which an item can have its name.
type spelling int

const (
	asWritten spelling = iota
	rounded            // numbers as the floats that are nearest to them
	emptied            // an empty text for each key field that is left out
	spellings
)

// allows reports whether items may be spelled so.
func (ns *names) allows(s spelling) bool {
	return s == asWritten || s == rounded && ns.rounded || s == emptied && ns.emptied
}

// matches says which items of a list are named by which children of a node.
type matches struct {
	itemOf []int // for each child the item that it names, or -1
	child  []int // for each item the child that names it, or -1; for all items of one name
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
	x := items{list: list}
	x.learn(n)
	return n.matchItems(&x)
}

// matchManifest finds the items of a manifest's list that the children of n name.
func (n *node) matchManifest(list []any) matches {
	x := items{list: list}
	x.learn(n)
	m := n.matchItems(&x)
	n.matchLeftOut(&x, m)
	return m
}

func (n *node) matchItems(x *items) matches {
	both := make([]int, len(n.children)+len(x.list))
	for i := range both {
		both[i] = -1
	}
	m := matches{both[:len(n.children):len(n.children)], both[len(n.children):]}
	for s := range spellings {
		if !x.allows(s) {
			continue
		}
		for i, c := range n.children {
			if c.element.kind != KeyKind && c.element.kind != ValueKind {
				continue
			}
			t := x.table(c.element.kind, s)
			for item := t.first(c.element.text); item >= 0; item = t.next(item, c.element.text) {
				m.join(i, item)
			}
		}
	}
	for i, c := range n.children {
		if c.element.kind == IndexKind && c.element.Index() < len(x.list) {
			m.join(i, c.element.Index())
		}
	}
	return m
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
	for _, group := range x.leftOut(func(item int) bool { return m.child[item] < 0 }) {
		for _, recorded := range []bool{false, true} {
			for i, c := range n.children {
				if m.itemOf[i] < 0 && c.element.kind == KeyKind && c.node.hasAny(group.without) == recorded {
					if item := group.take(c.element); item >= 0 {
						m.join(i, item)
					}
				}
			}
		}
	}
}

// hasAny reports whether one of the fields is recorded.
func (n *node) hasAny(fields []string) bool {
	return slices.ContainsFunc(fields, func(name string) bool { return n.child(Element{FieldKind, name}) != nil })
}

// items are the items of a list, by name.
type items struct {
	names
	list   []any
	tables [spellings][IndexKind]nameTable
}

// table returns the names of the items as keys or as values, in a spelling.
func (x *items) table(kind ElementKind, s spelling) *nameTable {
	t := &x.tables[s][kind]
	if !t.made {
		t.make(x, kind, s)
	}
	return t
}

// nameTable finds items by name.
type nameTable struct {
	made bool
	text []byte         // of all names, one after the other
	ends []int          // of the names in the text
	by   map[string]int // the first item of each name, if there are many items
	same []int          // for each item the next of the same name or 0, if there are many
}

// many is the number of items from which on a map finds one faster than looking at each.
const many = 16

func (t *nameTable) make(x *items, kind ElementKind, s spelling) {
	t.made = true
	t.text, t.ends = make([]byte, 0, 32*len(x.list)), make([]int, len(x.list))
	for i, item := range x.list {
		t.text = appendName(t.text, plain(item), kind, s, x.keyFields)
		t.ends[i] = len(t.text)
	}
	if len(x.list) <= many {
		return
	}
	t.by, t.same = make(map[string]int, len(x.list)), make([]int, len(x.list))
	all := string(t.text)
	for i := range slices.Backward(x.list) { // so that the first of a name remains
		name := all[t.start(i):t.ends[i]]
		t.same[i] = t.by[name]
		t.by[name] = i
	}
}

func (t *nameTable) start(item int) int {
	if item == 0 {
		return 0
	}
	return t.ends[item-1]
}

// first returns the first item of a name, or -1.
func (t *nameTable) first(name string) int {
	if t.by == nil {
		return t.next(-1, name)
	}
	if item, found := t.by[name]; found {
		return item
	}
	return -1
}

// next returns the next item of the name after one, or -1.
func (t *nameTable) next(item int, name string) int {
	if t.by != nil {
		if next := t.same[item]; next > 0 {
			return next
		}
		return -1
	}
	for item++; item < len(t.ends); item++ {
		if string(t.text[t.start(item):t.ends[item]]) == name {
			return item
		}
	}
	return -1
}

// leftOutGroup are items that leave out the same key fields.
type leftOutGroup struct {
	with, without []string
	items         map[string][]int // by the canonical JSON of the other key fields
}

// take returns the next item that e can name, or -1.
func (g leftOutGroup) take(e Element) int {
	key := restricted(e, g.with)
	found := g.items[key]
	if len(found) == 0 {
		return -1
	}
	g.items[key] = found[1:]
	return found[0]
}

// leftOut returns the items for which isFree holds and that leave out key fields, in the order in which the list first has
// one of each group.
func (x *items) leftOut(isFree func(item int) bool) []leftOutGroup {
	if !x.kinds[KeyKind] {
		return nil
	}
	var groups []leftOutGroup
	index := map[string]int{}
	for i, item := range x.list {
		m, isMap := plain(item).(map[string]any)
		if !isMap || !isFree(i) {
			continue
		}
		with, without := presentNames(m, x.keyFields)
		id := strings.Join(without, "\x00")
		at, known := index[id]
		if !known {
			at = len(groups)
			index[id] = at
			groups = append(groups, leftOutGroup{with, without, map[string][]int{}})
		}
		key := string(appendKey(nil, m, with))
		groups[at].items[key] = append(groups[at].items[key], i)
	}
	return groups
}

// presentNames divides the names into those that the item has and the others.
func presentNames(item map[string]any, names []string) (with, without []string) {
	for _, name := range names {
		if _, exists := item[name]; exists {
			with = append(with, name)
		} else {
			without = append(without, name)
		}
	}
	return with, without
}

// restricted returns the canonical JSON of those fields of a key that are named.
func restricted(e Element, names []string) string {
	b := []byte{'{'}
	fields := keyFields(e.text)
	for f, ok := fields.next(); ok; f, ok = fields.next() {
		if !slices.Contains(names, unquote(f.name)) {
			continue
		}
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = append(append(append(b, f.name...), ':'), f.value...)
	}
	return string(append(b, '}'))
}

// appendName appends the name of an item: as a key its key fields, as a value itself. A name that an item can't have is
// no JSON.
func appendName(b []byte, item any, kind ElementKind, s spelling, keyFields []string) []byte {
	m, isMap := item.(map[string]any)
	switch {
	case kind == KeyKind && !isMap:
		return append(b, 0)
	case s == rounded && kind == KeyKind:
		m = withRounded(m, keyFields)
	case s == emptied && kind == KeyKind:
		m = withEmpty(m, keyFields)
	case s == rounded:
		item = roundedNumber(item)
	}
	if kind == KeyKind {
		return appendKey(b, m, keyFields)
	}
	return appendValue(b, item)
}

// roundedNumber returns an integer as the float that is nearest to it.
func roundedNumber(v any) any {
	if i, ok := v.(int64); ok {
		return float64(i)
	}
	return v
}

// withRounded returns the key fields of an item with rounded numbers.
func withRounded(item map[string]any, keyFields []string) map[string]any {
	key := map[string]any{}
	for _, name := range keyFields {
		if v, exists := item[name]; exists {
			key[name] = roundedNumber(plain(v))
		}
	}
	return key
}

// withEmpty returns the key fields of an item with an empty text for those that it leaves out.
func withEmpty(item map[string]any, keyFields []string) map[string]any {
	key := map[string]any{}
	for _, name := range keyFields {
		key[name] = ""
		if v, exists := item[name]; exists {
			key[name] = v
		}
	}
	return key
}

// appendKey appends the canonical JSON of those key fields that the item has.
func appendKey(b []byte, item map[string]any, names []string) []byte {
	b = append(b, '{')
	for _, name := range names {
		v, exists := item[name]
		if !exists {
			continue
		}
		if b[len(b)-1] != '{' {
			b = append(b, ',')
		}
		b = append(appendValue(b, name), ':')
		b = appendValue(b, v)
	}
	return append(b, '}')
}

// appendValue appends the canonical JSON of v. What JSON can't express has a name that no element has.
func appendValue(b []byte, v any) []byte {
	switch v := v.(type) {
	case string:
		if isPlainText(v) {
			b = append(b, '"')
			b = append(b, v...)
			return append(b, '"')
		}
	case int64:
		return strconv.AppendInt(b, v, 10)
	}
	text, err := canonicalJSON(v)
	if err != nil {
		return append(b, 0)
	}
	return append(b, text...)
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
	case vs.fields != nil && e.kind == FieldKind:
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

// keyFields returns the names of the key fields of all items.
func (n *node) keyFields() []string {
	var ns names
	ns.learn(n)
	return ns.keyFields
}
