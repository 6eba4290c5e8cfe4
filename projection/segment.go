package projection

import (
	"regexp"
	"strconv"
	"strings"
)

// segment matches one element of a path.
type segment interface {
	// element reports whether the segment matches an element of a path.
	element(e Element) bool
	// field reports whether it matches a field of a map.
	field(name string) bool
	// item reports whether it matches an item of a list, and returns the element that it takes the item for.
	item(v any, position int) (Element, bool)
}

// segmentOf returns the segment that matches e. For a key, it also matches keys with more fields.
func segmentOf(e Element) segment {
	if fields := e.KeyFields(); len(fields) > 0 {
		return equalToAll(fields)
	}
	return exact{Element: e}
}

// exact matches one element, and the field or the item that this element names.
type exact struct {
	Element
	isBare bool // a name without quotes, so that it may be a part of a name with dots
}

func (s exact) element(e Element) bool { return e == s.Element }

func (s exact) field(name string) bool { return s.kind == FieldKind && s.text == name }

func (s exact) item(v any, position int) (Element, bool) {
	switch s.kind {
	case ValueKind:
		e, err := Value(v)
		return s.Element, err == nil && e == s.Element
	case IndexKind:
		return s.Element, Index(position) == s.Element
	}
	return Element{}, false
}

// anyField matches every field.
type anyField struct{}

func (anyField) element(e Element) bool { return e.kind == FieldKind }

func (anyField) field(string) bool { return true }

func (anyField) item(any, int) (Element, bool) { return Element{}, false }

// anyItem matches every element of a list.
type anyItem struct{}

func (anyItem) element(e Element) bool { return e.kind != FieldKind }

func (anyItem) field(string) bool { return false }

func (anyItem) item(_ any, position int) (Element, bool) { return Index(position), true }

// globbed matches fields by name, and items of sets that are texts.
type globbed struct{ *regexp.Regexp }

func (s globbed) element(e Element) bool {
	if e.kind == FieldKind {
		return s.field(e.text)
	}
	text, ok := e.Value().(string)
	return ok && s.MatchString(text)
}

func (s globbed) field(name string) bool { return s.MatchString(name) }

func (s globbed) item(v any, _ int) (Element, bool) {
	text, ok := v.(string)
	if !ok || !s.MatchString(text) {
		return Element{}, false
	}
	e, err := Value(text)
	return e, err == nil
}

// keyed matches elements that have the key fields, and items of lists that have the fields.
type keyed []predicate

// predicate compares the value of one key field with a segment for items of a list: exact or globbed.
type predicate struct {
	name string
	test segment
}

// equalTo returns the predicate of a key field with the value v.
func equalTo(name string, v any) (predicate, error) {
	e, err := Value(v)
	return predicate{name, exact{Element: e}}, err
}

// equalToAll returns the predicates of the fields of a key.
func equalToAll(fields map[string]any) keyed {
	var out keyed
	for _, name := range sortedKeys(fields) {
		if p, err := equalTo(name, fields[name]); err == nil {
			out = append(out, p)
		}
	}
	return out
}

func (s keyed) element(e Element) bool {
	if e.kind != KeyKind {
		return false
	}
	_, ok := s.match(e.KeyFields())
	return ok
}

func (keyed) field(string) bool { return false }

func (s keyed) item(v any, _ int) (Element, bool) {
	m, ok := v.(map[string]any)
	if !ok {
		return Element{}, false
	}
	key, ok := s.match(m)
	if !ok {
		return Element{}, false
	}
	e, err := Key(key)
	return e, err == nil
}

// match reports whether all predicates hold for the fields, and returns the fields that the predicates name.
func (s keyed) match(fields map[string]any) (map[string]any, bool) {
	key := map[string]any{}
	for _, p := range s {
		v, exists := fields[p.name]
		if _, holds := p.test.item(v, 0); !exists || !holds {
			return nil, false
		}
		key[p.name] = v
	}
	return key, true
}

// pointed matches as the token of a JSON pointer does: a field of that name, or the item at that position.
type pointed string

func (s pointed) position() (int, bool) {
	n, _ := strconv.Atoi(string(s))
	return n, n >= 0 && strconv.Itoa(n) == string(s) // false for a text that is no number
}

func (s pointed) element(e Element) bool {
	n, isPosition := s.position()
	return e == Field(string(s)) || isPosition && e == Index(n)
}

func (s pointed) field(name string) bool { return name == string(s) }

func (s pointed) item(_ any, position int) (Element, bool) {
	n, isPosition := s.position()
	return Index(n), isPosition && n == position
}

// fieldOrItem matches a field of that name, and every element of a list.
type fieldOrItem string

func (s fieldOrItem) element(e Element) bool { return e.kind != FieldKind || e == Field(string(s)) }

func (s fieldOrItem) field(name string) bool { return name == string(s) }

func (s fieldOrItem) item(_ any, position int) (Element, bool) { return Index(position), true }

// isPosition reports whether s may name an item of a list by its position.
func isPosition(s segment) bool {
	if e, isExact := s.(exact); isExact {
		return e.kind == IndexKind
	}
	token, isPointed := s.(pointed)
	_, isNumber := token.position()
	return isPointed && isNumber
}

// everyItem returns a segment for every item of a list, given the segment for a position in it.
func everyItem(s segment) segment {
	if token, isPointed := s.(pointed); isPointed {
		return fieldOrItem(token)
	}
	return anyItem{}
}

// progress are the segments of each pattern that are still to be matched.
type progress [][]segment

// advance returns the rest of each pattern whose first segment matches a place, and reports whether one of the patterns
// has no rest. The parameter name is the name of the place if it is a field, and "" otherwise.
func (pr progress) advance(name string, matches func(segment) bool) (next progress, done bool) {
	for _, segments := range pr {
		n := spelled(segments, name)
		if n == 0 && matches(segments[0]) {
			n = 1
		}
		switch {
		case n == len(segments):
			return nil, true
		case n > 0:
			next = append(next, segments[n:])
		}
	}
	return next, false
}

// spelled returns how many of the first segments, joined by dots, are the name of a field; 0 if they don't make up the
// name, or if it has no dots.
func spelled(segments []segment, name string) int {
	if !strings.Contains(name, ".") {
		return 0
	}
	for i, s := range segments {
		e, isExact := s.(exact)
		if !isExact || !e.isBare {
			return 0
		}
		rest, isPrefix := strings.CutPrefix(name, e.text)
		switch {
		case !isPrefix:
			return 0
		case rest == "":
			return i + 1
		case rest[0] != '.':
			return 0
		}
		name = rest[1:]
	}
	return 0
}
