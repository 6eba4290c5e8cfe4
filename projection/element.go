package projection

import (
	"fmt"
	"strconv"
)

// ElementKind says which sort of step an [Element] is.
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

// Element is one step of a [Path]. Elements are comparable with == and usable as map keys; the zero Element is the
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

// Key returns the element for the item of an associative list that has the given key fields, all of them, with the
// defaults that the schema has for those the manifest leaves out. Values that JSON cannot express are an error.
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

// ElementKind returns the kind of e.
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
