package projection

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// ElementKind is the sort of an [Element].
type ElementKind uint8

// The kinds of path elements, in the order in which a server sorts them.
const (
	// FieldKind is a field of a struct or a key of a map.
	FieldKind ElementKind = iota
	// KeyKind is an element of an associative list, named by its key fields.
	KeyKind
	// ValueKind is an element of a set, named by its value.
	ValueKind
	// IndexKind is an element of a list that has neither keys nor set semantics.
	IndexKind
)

// Element is one part of a [Path]. Elements are comparable with == and usable as map keys; the zero Element is the
// field with the empty name.
type Element struct {
	kind ElementKind
	// text is the name of a field; the canonical JSON of a key or value; the decimal index.
	text string
}

// Field returns the element for the field or map key called name. Bytes that are not UTF-8 become U+FFFD, as in JSON.
func Field(name string) Element {
	return Element{FieldKind, validText(name)}
}

// Index returns the element for the position i of a list. A negative i is taken as 0.
func Index(i int) Element {
	return Element{IndexKind, strconv.Itoa(max(i, 0))}
}

// Key returns the element for the item of an associative list with the given key fields. All key fields of the list are
// needed, including those that the manifest leaves out because the schema has a default. Values that JSON cannot
// express are an error.
func Key(fields map[string]any) (Element, error) {
	if fields == nil {
		fields = map[string]any{}
	}
	text, err := canonicalJSON(fields)
	if err != nil {
		return Element{}, fmt.Errorf("projection: key fields: %w", err)
	}
	return Element{KeyKind, text}, nil
}

// Value returns the element for the item of a set that equals v. A value that JSON cannot express is an error.
func Value(v any) (Element, error) {
	text, err := canonicalJSON(v)
	if err != nil {
		return Element{}, fmt.Errorf("projection: set value: %w", err)
	}
	return Element{ValueKind, text}, nil
}

// Kind returns the kind of e.
func (e Element) Kind() ElementKind { return e.kind }

// Name returns the field name of e, and "" if e is not a field.
func (e Element) Name() string {
	if e.kind != FieldKind {
		return ""
	}
	return e.text
}

// KeyFields returns the key fields of e with their values (string, bool, int64, float64, nil, or a composite of
// them), and nil if e is not a key.
func (e Element) KeyFields() map[string]any {
	if e.kind != KeyKind {
		return nil
	}
	fields, _ := decodeJSON(e.text)
	m, _ := fields.(map[string]any)
	return m
}

// nullFields returns the names of the key fields of e that are null, nil if there are none.
func (e Element) nullFields() (null []string) {
	if e.kind != KeyKind || !strings.Contains(e.text, ":null") {
		return nil // as almost always, for which this makes nothing
	}
	fields := keyFields(e.text)
	for f, ok := fields.next(); ok; f, ok = fields.next() {
		if f.value == "null" {
			null = append(null, unquote(f.name))
		}
	}
	return null
}

// Value returns the set value of e, and nil if e is not a value.
func (e Element) Value() any {
	if e.kind != ValueKind {
		return nil
	}
	v, _ := decodeJSON(e.text)
	return v
}

// Index returns the position of e, and -1 if e is not an index.
func (e Element) Index() int {
	if e.kind != IndexKind {
		return -1
	}
	i, _ := strconv.Atoi(e.text) // was made by Itoa
	return i
}

// Compare orders elements as a server sorts them in FieldsV1: fields, keys, values, indexes; fields by name, keys and
// values by their typed values. It is 0 only for equal elements.
func (e Element) Compare(other Element) int {
	switch {
	case e.kind != other.kind:
		return cmp.Compare(e.kind, other.kind)
	case e.kind == FieldKind:
		return strings.Compare(e.text, other.text)
	case e.text == other.text:
		return 0
	case e.kind == IndexKind:
		// A shorter decimal number is a smaller one.
		return cmp.Or(cmp.Compare(len(e.text), len(other.text)), strings.Compare(e.text, other.text))
	case e.kind == KeyKind:
		return compareKeyTexts(e.text, other.text)
	}
	return compareTexts(e.text, other.text)
}

// compareKeyTexts compares the canonical JSON of two keys field by field, name before value.
func compareKeyTexts(a, b string) int {
	x, y := keyFields(a), keyFields(b)
	for {
		xf, inX := x.next()
		yf, inY := y.next()
		switch {
		case !inX && !inY:
			return 0
		case !inX:
			return -1
		case !inY:
			return 1
		}
		if c := compareStrings(xf.name, yf.name); c != 0 {
			return c
		}
		if c := compareTexts(xf.value, yf.value); c != 0 {
			return c
		}
	}
}

// keyField is one field of a key, both parts as JSON text.
type keyField struct{ name, value string }

// keyIterator walks over the fields in the canonical JSON of a key.
type keyIterator struct{ rest string }

func keyFields(text string) keyIterator { return keyIterator{text[1:]} }

func (k *keyIterator) next() (keyField, bool) {
	if len(k.rest) <= 1 { // only the closing brace is left, if not even that
		return keyField{}, false
	}
	end := stringToken(k.rest)
	f := keyField{name: k.rest[:end]}
	k.rest = k.rest[end+1:]
	end = jsonToken(k.rest)
	f.value, k.rest = k.rest[:end], k.rest[end+1:]
	return f, true
}

// compareTexts compares the canonical JSON of two values as structured-merge-diff compares values: numbers, strings,
// booleans, lists, maps, null.
func compareTexts(a, b string) int {
	if a == b {
		return 0
	}
	ra, rb := textRank(a), textRank(b)
	if ra != rb {
		return cmp.Compare(ra, rb)
	}
	switch ra {
	case stringRank:
		return compareStrings(a, b)
	case boolRank:
		return strings.Compare(a, b)
	case listRank, mapRank:
		x, _ := decodeJSON(a)
		y, _ := decodeJSON(b)
		return cmp.Or(compareValues(x, y), strings.Compare(a, b))
	}
	return cmp.Or(compareNumbers(a, b), strings.Compare(a, b))
}

// compareStrings compares what two JSON strings say.
func compareStrings(a, b string) int { return strings.Compare(unquote(a), unquote(b)) }

// The ranks of values of different types.
const (
	numberRank = iota
	stringRank
	boolRank
	listRank
	mapRank
	nullRank
)

func textRank(text string) int {
	switch text[0] {
	case '"':
		return stringRank
	case 't', 'f':
		return boolRank
	case '[':
		return listRank
	case '{':
		return mapRank
	case 'n':
		return nullRank
	}
	return numberRank
}

// compareNumbers compares integers exactly. Whole numbers that fit are written as such.
func compareNumbers(a, b string) int {
	x, errX := strconv.ParseInt(a, 10, 64)
	y, errY := strconv.ParseInt(b, 10, 64)
	if errX == nil && errY == nil {
		return cmp.Compare(x, y)
	}
	fx, _ := strconv.ParseFloat(a, 64)
	fy, _ := strconv.ParseFloat(b, 64)
	return cmp.Compare(fx, fy)
}

// compareValues orders lists and maps, which servers do not use as keys.
func compareValues(a, b any) int {
	x, isList := a.([]any)
	if y, ok := b.([]any); isList && ok {
		return slices.CompareFunc(x, y, compareValues)
	}
	m, isMap := a.(map[string]any)
	if n, ok := b.(map[string]any); isMap && ok {
		return compareMaps(m, n)
	}
	x1, _ := canonicalJSON(a)
	y1, _ := canonicalJSON(b)
	return compareTexts(x1, y1)
}

func compareMaps(a, b map[string]any) int {
	an, bn := sortedKeys(a), sortedKeys(b)
	for i := range min(len(an), len(bn)) {
		if c := strings.Compare(an[i], bn[i]); c != 0 {
			return c
		}
		if c := compareValues(a[an[i]], b[bn[i]]); c != 0 {
			return c
		}
	}
	return cmp.Compare(len(an), len(bn))
}
