package projection

import "regexp"

// exact matches the element that is named, and fields and items that are called so.
type exact struct{ Element }

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

// globbed matches fields by name, and elements of sets that are texts.
type globbed struct{ glob *regexp.Regexp }

func (s globbed) element(e Element) bool {
	if e.kind == FieldKind {
		return s.field(e.text)
	}
	text, ok := e.Value().(string)
	return ok && s.glob.MatchString(text)
}

func (s globbed) field(name string) bool { return s.glob.MatchString(name) }

func (s globbed) item(v any, _ int) (Element, bool) {
	text, ok := v.(string)
	if !ok || !s.glob.MatchString(text) {
		return Element{}, false
	}
	e, err := Value(text)
	return e, err == nil
}

// keyed matches elements that have the key fields, and items of lists that have the fields.
type keyed []predicate

// predicate compares one key field, with glob if there is one, and else with value.
type predicate struct {
	name  string
	value Element
	glob  *regexp.Regexp
}

// equalTo returns the predicates of the fields of a key.
func equalTo(fields map[string]any) keyed {
	var out keyed
	for _, name := range sortedKeys(fields) {
		if v, err := Value(fields[name]); err == nil {
			out = append(out, predicate{name: name, value: v})
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

// match reports whether all predicates hold, and returns the values that they were about.
func (s keyed) match(fields map[string]any) (map[string]any, bool) {
	key := map[string]any{}
	for _, p := range s {
		v, exists := fields[p.name]
		if !exists || !p.holds(v) {
			return nil, false
		}
		key[p.name] = v
	}
	return key, true
}

func (p predicate) holds(v any) bool {
	if p.glob != nil {
		text, ok := v.(string)
		return ok && p.glob.MatchString(text)
	}
	e, err := Value(v)
	return err == nil && e == p.value
}
