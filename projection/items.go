package projection

import (
	"iter"
	"slices"
	"strconv"
	"strings"
)

// spelling is a way in which an item can have its name.
type spelling int

const (
	asWritten spelling = iota
	rounded            // numbers as the floats that are nearest to them
	emptied            // an empty text for each key field that is left out
	spellings
)

// items are the items of a list, by name.
type items struct {
	names
	list   []any
	tables [spellings][IndexKind]*nameTable // those that were needed
	left   *leftOut                         // of all items, if it was needed
}

// nameTable finds the items of a list by name.
type nameTable struct {
	first map[string]int
	next  []int // for each item the next one of the same name, or 0
}

// named yields the items that e names by key or value in a spelling.
func (x *items) named(e Element, s spelling) iter.Seq[int] {
	return func(yield func(item int) bool) {
		if e.kind != KeyKind && e.kind != ValueKind {
			return
		}
		if x.tables[s][e.kind] == nil {
			x.tables[s][e.kind] = x.table(e.kind, s)
		}
		t := x.tables[s][e.kind]
		for item, found := t.first[e.text]; found && yield(item); found = item > 0 {
			item = t.next[item]
		}
	}
}

func (x *items) table(kind ElementKind, s spelling) *nameTable {
	var text []byte // of all names, one after the other
	ends := make([]int, len(x.list)+1)
	for i, item := range x.list {
		text = appendName(text, plain(item), kind, s, x.keyFields)
		ends[i+1] = len(text)
	}
	t := &nameTable{make(map[string]int, len(x.list)), make([]int, len(x.list))}
	all := string(text)
	for i := range slices.Backward(x.list) { // so that the first of a name remains
		name := all[ends[i]:ends[i+1]]
		t.next[i] = t.first[name]
		t.first[name] = i
	}
	return t
}

// leftOut finds items that leave out key fields by those that they have. A null is no value, and gets the default, too.
type leftOut struct {
	groups []leftOutGroup
	index  map[string]int // of the groups, by what their items leave out
}

// leftOutGroup are items that leave out the same key fields.
type leftOutGroup struct {
	with, without []string
	items         map[string][]int // by the canonical JSON of the key fields that they have
}

// add adds an item if it is one.
func (l *leftOut) add(at int, item any, keyFields []string) {
	m, isMap := plain(item).(map[string]any)
	lacks := func(name string) bool { return m[name] == nil }
	if !isMap || !slices.ContainsFunc(keyFields, lacks) {
		return // as most items, for which this makes nothing
	}
	with, without := presentNames(m, keyFields)
	id := strings.Join(without, "\x00")
	group, known := l.index[id]
	if !known {
		group = len(l.groups)
		l.index[id] = group
		l.groups = append(l.groups, leftOutGroup{with, without, map[string][]int{}})
	}
	key := string(appendKey(nil, m, with, asWritten))
	l.groups[group].items[key] = append(l.groups[group].items[key], at)
}

// leftOut returns the items that leave out key fields.
func (x *items) leftOut() *leftOut {
	if x.left == nil {
		x.left = &leftOut{index: map[string]int{}}
		for i, item := range x.list {
			x.left.add(i, item, x.keyFields)
		}
	}
	return x.left
}

// of returns the items that have what e has, but for what they leave out.
func (g leftOutGroup) of(e Element) []int { return g.items[restricted(e, g.with)] }

// presentNames divides the names into those for which the item has a value and the others.
func presentNames(item map[string]any, names []string) (with, without []string) {
	for _, name := range names {
		if item[name] != nil {
			with = append(with, name)
		} else {
			without = append(without, name)
		}
	}
	return with, without
}

// restricted returns the canonical JSON of those fields of a key that are named, and "" for other elements.
func restricted(e Element, names []string) string {
	if e.kind != KeyKind {
		return ""
	}
	b := []byte{'{'}
	fields := keyFields(e.text)
	for f, ok := fields.next(); ok; f, ok = fields.next() {
		if slices.Contains(names, unquote(f.name)) {
			if len(b) > 1 {
				b = append(b, ',')
			}
			b = append(append(append(b, f.name...), ':'), f.value...)
		}
	}
	return string(append(b, '}'))
}

// appendName appends the name of an item: as a key its key fields, as a value itself. A name that an item can't have is
// no JSON.
func appendName(b []byte, item any, kind ElementKind, s spelling, keyFields []string) []byte {
	if kind == ValueKind {
		return appendValue(b, item, s)
	}
	m, isMap := item.(map[string]any)
	if !isMap {
		return append(b, 0)
	}
	return appendKey(b, m, keyFields, s)
}

// appendKey appends the canonical JSON of those key fields that the item has.
func appendKey(b []byte, item map[string]any, names []string, s spelling) []byte {
	b = append(b, '{')
	for _, name := range names {
		v, exists := item[name]
		if !exists && s == emptied {
			v, exists = "", true
		}
		if exists {
			if b[len(b)-1] != '{' {
				b = append(b, ',')
			}
			b = append(appendText(b, name), ':')
			b = appendValue(b, plain(v), s)
		}
	}
	return append(b, '}')
}

// appendText appends the canonical JSON of a text.
func appendText(b []byte, text string) []byte {
	if isPlainText(text) {
		return append(append(append(b, '"'), text...), '"')
	}
	quoted, _ := canonicalJSON(text) // can't fail for a text
	return append(b, quoted...)
}

// appendValue appends the canonical JSON of v. A value that JSON can't express has a name that no element has.
func appendValue(b []byte, v any, s spelling) []byte {
	switch v := v.(type) {
	case string:
		return appendText(b, v)
	case int64:
		if s == rounded {
			return strconv.AppendFloat(b, float64(v), 'f', -1, 64)
		}
		return strconv.AppendInt(b, v, 10)
	}
	text, err := canonicalJSON(v)
	if err != nil {
		return append(b, 0)
	}
	return append(b, text...)
}

// first returns the first item that is free and that e names, or -1.
func (x *items) first(e Element, free func(item int) bool) int {
	for s := range spellings {
		for item := range x.named(e, s) {
			if free(item) {
				return item
			}
		}
	}
	return -1
}

// only returns the one item that is free and that e names as it is written, or -1 if there are more or none.
func (x *items) only(e Element, free func(item int) bool) int {
	found := -1
	for item := range x.named(e, asWritten) {
		switch {
		case !free(item):
		case found >= 0:
			return -1
		default:
			found = item
		}
	}
	return found
}

// firstLeftOut returns the first item that is free, leaves out key fields of e and has the others, or -1.
func (x *items) firstLeftOut(e Element, free func(item int) bool) int {
	for _, group := range x.leftOut().groups {
		for _, item := range group.of(e) {
			if free(item) {
				return item
			}
		}
	}
	return -1
}

func (x *items) put(item any) {
	x.list = append(x.list, item)
	if x.left != nil {
		x.left.add(len(x.list)-1, item, x.keyFields)
	}
	for s := range x.tables {
		for kind, t := range x.tables[s] {
			if t != nil {
				t.put(string(appendName(nil, item, ElementKind(kind), spelling(s), x.keyFields)))
			}
		}
	}
}

// put adds the name of one more item.
func (t *nameTable) put(name string) {
	item := len(t.next)
	t.next = append(t.next, 0)
	if first, found := t.first[name]; found {
		t.next[first], t.next[item] = item, t.next[first]
	} else {
		t.first[name] = item
	}
}
