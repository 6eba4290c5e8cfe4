package projection

import (
	"encoding/binary"
	"math"
	"slices"
	"strconv"
	"strings"
)

// sortChildren sorts children by [Element.Compare]. A map that was decoded from JSON comes in no order, and comparing
// would be most of the work with a wide one; so many names or keys are sorted byte by byte, in linear time.
func sortChildren(children []child) {
	compare := func(a, b child) int { return a.element.Compare(b.element) }
	if slices.IsSortedFunc(children, compare) {
		return
	}
	entries, ok := sortEntries(children)
	if !ok {
		slices.SortFunc(children, compare)
		return
	}
	radixSort(entries, make([]sortEntry, len(entries)), 0)
	sorted := make([]child, len(children))
	for i, entry := range entries {
		sorted[i] = children[entry.index]
	}
	copy(children, sorted)
}

// few is the number of children below which comparing is faster.
const few = 64

// sortEntry is a text that sorts as the child at an index does.
type sortEntry struct {
	key   string
	index int
}

// sortEntries returns entries for the children; false if they are few, of several kinds or not all have such a text.
func sortEntries(children []child) ([]sortEntry, bool) {
	if len(children) < few {
		return nil, false
	}
	kind := children[0].element.kind
	entries := make([]sortEntry, len(children))
	for i, c := range children {
		key, ok := sortKey(c.element)
		if !ok || c.element.kind != kind {
			return nil, false
		}
		entries[i] = sortEntry{key, i}
	}
	return entries, true
}

// sortKey returns a text that sorts as e does among elements of its kind.
func sortKey(e Element) (string, bool) {
	switch e.kind {
	case FieldKind:
		return e.text, true
	case KeyKind:
		b, ok := []byte(nil), true
		fields := keyFields(e.text)
		for f, more := fields.next(); more && ok; f, more = fields.next() {
			b = appendSortText(b, unquote(f.name))
			b, ok = appendSortValue(b, f.value)
		}
		return string(b), ok
	case ValueKind:
		b, ok := appendSortValue(nil, e.text)
		return string(b), ok
	}
	return "", false
}

// appendSortValue appends what sorts as a value does, given its JSON. Lists, maps and numbers that a float can't hold
// exactly are left to comparing.
func appendSortValue(b []byte, text string) ([]byte, bool) {
	rank := textRank(text)
	b = append(b, byte(rank))
	switch rank {
	case numberRank:
		f, err := strconv.ParseFloat(text, 64)
		if err != nil || math.Abs(f) >= 1<<53 {
			return b, false
		}
		bits := math.Float64bits(f)
		if f < 0 {
			bits = ^bits
		} else {
			bits |= 1 << 63
		}
		return binary.BigEndian.AppendUint64(b, bits), true
	case stringRank:
		return appendSortText(b, unquote(text)), true
	case boolRank:
		return append(b, text[0]), true
	case nullRank:
		return b, true
	}
	return b, false
}

// appendSortText appends a text and an end that sorts before everything that may follow.
func appendSortText(b []byte, s string) []byte {
	if strings.IndexByte(s, 0) >= 0 {
		s = strings.ReplaceAll(s, "\x00", "\x00\xff")
	}
	return append(append(b, s...), 0, 0)
}

// radixSort sorts entries whose keys are equal up to depth. The buffer has their length.
func radixSort(entries, buffer []sortEntry, depth int) {
	if len(entries) < few {
		slices.SortFunc(entries, func(a, b sortEntry) int { return strings.Compare(a.key[depth:], b.key[depth:]) })
		return
	}
	depth += commonPrefix(entries, depth)
	var ends [257]int // of the buckets, by the byte at depth; the first is of the keys that end there
	for _, e := range entries {
		ends[bucket(e.key, depth)]++
	}
	for i := 1; i < len(ends); i++ {
		ends[i] += ends[i-1]
	}
	next := ends
	for _, e := range slices.Backward(entries) {
		i := bucket(e.key, depth)
		next[i]--
		buffer[next[i]] = e
	}
	copy(entries, buffer)
	for i := 1; i < len(ends); i++ {
		radixSort(entries[ends[i-1]:ends[i]], buffer[ends[i-1]:ends[i]], depth+1)
	}
}

func bucket(key string, depth int) int {
	if depth == len(key) {
		return 0
	}
	return int(key[depth]) + 1
}

// commonPrefix returns how many bytes from depth on all keys have in common.
func commonPrefix(entries []sortEntry, depth int) int {
	first := entries[0].key[depth:]
	for _, e := range entries[1:] {
		key := e.key[depth:]
		n := min(len(first), len(key))
		i := 0
		for i < n && first[i] == key[i] {
			i++
		}
		if first = first[:i]; i == 0 {
			break
		}
	}
	return len(first)
}
