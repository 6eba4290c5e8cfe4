package projection

import (
	"slices"
	"strconv"
)

// itemIndex finds the child of a node that an item of a list is.
//
// An item of an associative list is named by those of the list's key fields that it has. Which fields are keys is
// learnt from the children, all of them together: since Kubernetes 1.34 items of one list may leave out keys that have
// no default.
type itemIndex struct {
	keyNames   []string // sorted
	byKey      map[string]int
	byValue    map[string]int
	byPosition map[int]int
	// rounded says that numbers beyond 2^53 are among the keys or values. A server writes them exactly at first, and
	// as rounded floats once it has read its own managedFields.
	rounded bool
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
	index := &itemIndex{}
	for i, c := range children {
		index.rounded = index.rounded || c.element.kind != FieldKind && hasLongNumber(c.element.text)
		switch c.element.kind {
		case KeyKind:
			index.addKeyNames(c.element.text)
			put(&index.byKey, c.element.text, i, len(children))
		case ValueKind:
			put(&index.byValue, c.element.text, i, len(children))
		case IndexKind:
			put(&index.byPosition, c.element.Index(), i, len(children))
		}
	}
	return index
}

func put[K comparable](m *map[K]int, key K, child, size int) {
	if *m == nil {
		*m = make(map[K]int, size)
	}
	(*m)[key] = child
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
	if i := x.findNamed(item, buf); i >= 0 {
		return i
	}
	if x.rounded {
		if i := x.findNamed(roundedNumbers(item, x.keyNames), buf); i >= 0 {
			return i
		}
	}
	if i, found := x.byPosition[position]; found {
		return i
	}
	return -1
}

func (x *itemIndex) findNamed(item any, buf []byte) int {
	if m, ok := item.(map[string]any); ok && x.byKey != nil {
		if i, found := x.byKey[string(appendKey(buf[:0], m, x.keyNames))]; found {
			return i
		}
	}
	if x.byValue != nil {
		if i, found := x.byValue[string(appendValue(buf[:0], item))]; found {
			return i
		}
	}
	return -1
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

// matches says which items of a list are which children of a node.
type matches struct {
	childAt []int // for each item the child that it is the first match of, or -1
	itemOf  []int // for each child its first item, or -1
	twice   []int // the children that several items match
}

func matchItems(list []any, n *node) matches {
	m := matches{childAt: make([]int, len(list)), itemOf: make([]int, len(n.children))}
	for i := range m.itemOf {
		m.itemOf[i] = -1
	}
	index := n.items()
	buf := make([]byte, 0, 128)
	for i, item := range list {
		found := index.find(plain(item), i, buf)
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
