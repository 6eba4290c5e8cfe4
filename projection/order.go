package projection

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

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
	if len(k.rest) < 2 { // only the closing brace is left
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
func compareStrings(a, b string) int {
	if a == b {
		return 0
	}
	if strings.IndexByte(a, '\\') >= 0 || strings.IndexByte(b, '\\') >= 0 {
		a, b = unquote(a), unquote(b)
	} else {
		a, b = a[1:len(a)-1], b[1:len(b)-1]
	}
	return strings.Compare(a, b)
}

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

// compareNumbers compares integers exactly. Whole numbers that fit are integers; see parseNumber.
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
