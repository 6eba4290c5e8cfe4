package projection

import (
	"slices"
	"strconv"
	"strings"
)

// itemIndex finds the child of a node that an item of a list is.
//
// An item of an associative list is named by those of the list's key fields that it has. Which fields are keys is
// learnt from the children, all of them together: since Kubernetes 1.34 items of one list may leave out keys that have
// no default.
type itemIndex struct {
	children []child
	keyNames []string // sorted
	// kinds are those of the children.
	kinds [IndexKind + 1]bool
	// by finds many children by kind and text; few are found by looking at each.
	by [IndexKind + 1]map[string]int
	// rounded says that numbers beyond 2^53 are among the keys or values. A server writes them exactly at first, and
	// as rounded floats once it has read its own managedFields.
	rounded bool
	// emptied says that an empty text is among the keys. A server leaves out of its objects a key field that has such a
	// default, as the name of an imagePullSecret has.
	emptied bool
}

// items returns the index of n, making it at first use. Two goroutines may both make it; both are right.
func (n *node) items() *itemIndex {
	if index := n.index.Load(); index != nil {
		return index
	}
	index := newItemIndex(n.children)
	n.index.Store(index)
	return index
}

func newItemIndex(children []child) *itemIndex {
	x := &itemIndex{children: children}
	for i, c := range children {
		kind, text := c.element.kind, c.element.text
		x.kinds[kind] = true
		if kind == KeyKind {
			x.addKeyNames(text)
			x.emptied = x.emptied || strings.Contains(text, `:""`)
		}
		x.rounded = x.rounded || kind != FieldKind && hasLongNumber(text)
		if len(children) > wide {
			if x.by[kind] == nil {
				x.by[kind] = make(map[string]int, len(children))
			}
			x.by[kind][text] = i
		}
	}
	return x
}

func (x *itemIndex) addKeyNames(key string) {
	fields := keyFields(key)
	for f, ok := fields.next(); ok; f, ok = fields.next() {
		name := unquote(f.name)
		if i, found := slices.BinarySearch(x.keyNames, name); !found {
			x.keyNames = slices.Insert(x.keyNames, i, name)
		}
	}
}

// lookup returns the child of a kind and text, and -1 if there is none.
func (x *itemIndex) lookup(kind ElementKind, text []byte) int {
	if x.by[kind] != nil {
		if i, found := x.by[kind][string(text)]; found {
			return i
		}
		return -1
	}
	for i := range x.children {
		if e := &x.children[i].element; e.text == string(text) && e.kind == kind {
			return i
		}
	}
	return -1
}

// hasLongNumber reports whether JSON text has as many digits in a row as 2^53 has.
func hasLongNumber(text string) bool {
	digits := 0
	for i := range len(text) {
		if text[i] < '0' || text[i] > '9' {
			digits = 0
		} else if digits++; digits == len("9007199254740992") {
			return true
		}
	}
	return false
}

// find returns the child that the item at a position is, and -1 if it is none. A key or value goes before a position.
// It uses the memory of buf.
func (x *itemIndex) find(item any, position int, buf []byte) int {
	found := x.named(item, buf)
	if found < 0 && x.rounded {
		found = x.named(roundedNumbers(item, x.keyNames), buf)
	}
	if found < 0 && x.emptied {
		found = x.named(withEmpty(item, x.keyNames), buf)
	}
	if found < 0 && x.kinds[IndexKind] {
		found = x.lookup(IndexKind, strconv.AppendInt(buf[:0], int64(position), 10))
	}
	return found
}

// named returns the child that the item is by its key or value.
func (x *itemIndex) named(item any, buf []byte) int {
	found := -1
	if m, ok := item.(map[string]any); ok && x.kinds[KeyKind] {
		found = x.lookup(KeyKind, appendKey(buf[:0], m, x.keyNames))
	}
	if found < 0 && x.kinds[ValueKind] {
		found = x.lookup(ValueKind, appendValue(buf[:0], item))
	}
	return found
}

// roundedNumbers returns item, or its key fields, with integers as the floats that hold them best.
func roundedNumbers(item any, keyNames []string) any {
	switch item := item.(type) {
	case int64:
		return float64(item)
	case map[string]any:
		key := map[string]any{}
		for _, name := range keyNames {
			if v, exists := item[name]; exists {
				key[name] = roundedNumbers(v, nil)
			}
		}
		return key
	}
	return item
}

// withEmpty returns item, or its key fields, with an empty text for those that are missing.
func withEmpty(item any, keyNames []string) any {
	m, isMap := item.(map[string]any)
	if !isMap {
		return item
	}
	key := map[string]any{}
	for _, name := range keyNames {
		key[name] = ""
		if v, exists := m[name]; exists {
			key[name] = v
		}
	}
	return key
}

// matches says which items of a list are which children of a node.
type matches struct {
	childAt []int // for each item the child that it is the first match of, or -1
	itemOf  []int // for each child its first item, or -1
	twice   []int // the children that several items match
}

func matchItems(list []any, n *node) matches {
	var s scratch
	return s.match(list, n)
}

// scratch is memory for matching one list after another, and lists within lists.
type scratch struct {
	ints []int
	text [128]byte
}

// match matches the items of the list with the children of n. The result is good until it is given to release, before
// which others may be made and released.
func (s *scratch) match(list []any, n *node) matches {
	start := len(s.ints)
	s.ints = slices.Grow(s.ints, len(list)+len(n.children))[:start+len(list)+len(n.children)]
	m := matches{childAt: s.ints[start : start+len(list)], itemOf: s.ints[start+len(list):]}
	for i := range m.itemOf {
		m.itemOf[i] = -1
	}
	index := n.items()
	for i, item := range list {
		found := index.find(plain(item), i, s.text[:0])
		if found >= 0 && m.itemOf[found] >= 0 {
			m.twice = append(m.twice, found)
			found = -1
		}
		m.childAt[i] = found
		if found >= 0 {
			m.itemOf[found] = i
		}
	}
	slices.Sort(m.twice)
	m.twice = slices.Compact(m.twice)
	return m
}

func (s *scratch) release(m matches) {
	s.ints = s.ints[:len(s.ints)-len(m.childAt)-len(m.itemOf)]
}

// appendKey appends the canonical JSON of those key fields that the item has.
func appendKey(b []byte, item map[string]any, names []string) []byte {
	b = append(b, '{')
	for _, name := range names {
		v, exists := item[name]
		if !exists {
			continue
		}
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = append(appendValue(b, name), ':')
		b = appendValue(b, v)
	}
	return append(b, '}')
}

// appendValue appends the canonical JSON of v. A value that JSON can't express matches nothing.
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
