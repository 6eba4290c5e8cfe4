package projection

import (
	"fmt"
	"regexp"
	"strings"
)

// Pattern is a path with wildcards. It stands for every place that it matches and for all that lies below. The text is
// that of a [Path], in which moreover
//
//	metadata.annotations.*                          * is any field
//	metadata.annotations[~"example.io/*"]           ~ compares with wildcards; * is any text, also none
//	spec.template.spec.containers[*].image          [*] is any element of a list
//	spec.template.spec.containers[name="app"].env   an element that has the key field, whatever other key fields it has
//	spec.template.spec.containers[name~"istio-*"]   and the same with wildcards
//	metadata.finalizers[~"example.io/*"]            an element of a set, too, if it is a text
//
// A name is matched as a whole: metadata.label does not match metadata.labels. The zero Pattern matches nothing.
type Pattern struct {
	text  string
	steps []step
}

// step matches one element of a path.
type step interface {
	// element reports whether the step matches an element of a path.
	element(e Element) bool
	// field reports whether it matches a field of a map.
	field(name string) bool
	// item reports whether it matches an item of a list, and how the item is called for that.
	item(v any, position int) (Element, bool)
}

// ParsePattern reads a pattern. The error names the text and the byte at which it stops making sense.
func ParsePattern(text string) (Pattern, error) {
	s := pathScanner{text: text}
	p := Pattern{text: text}
	for s.pos < len(text) {
		next, err := s.step(len(p.steps) == 0)
		if err != nil {
			return Pattern{}, fmt.Errorf("projection: pattern %q: at byte %d: %w", text, s.pos, err)
		}
		p.steps = append(p.steps, next)
	}
	if p.steps == nil {
		return Pattern{}, fmt.Errorf("projection: pattern %q: would match everything", text)
	}
	return p, nil
}

// String returns the text of the pattern.
func (p Pattern) String() string { return p.text }

// MarshalText returns the text of the pattern.
func (p Pattern) MarshalText() ([]byte, error) { return []byte(p.text), nil }

// UnmarshalText sets p to the pattern that text says; see [ParsePattern].
func (p *Pattern) UnmarshalText(text []byte) error {
	parsed, err := ParsePattern(string(text))
	if err == nil {
		*p = parsed
	}
	return err
}

// Match reports whether p matches the path or one above it.
func (p Pattern) Match(path Path) bool {
	if len(p.steps) == 0 || len(path) < len(p.steps) {
		return false
	}
	for i, s := range p.steps {
		if !s.element(path[i]) {
			return false
		}
	}
	return true
}

func (s *pathScanner) step(first bool) (step, error) {
	start := s.pos
	if s.take('[') {
		if next, ok, err := s.wildcardBracket(); ok {
			return next, err
		}
	} else if (first || s.take('.')) && s.take('*') {
		return anyField{}, nil
	}
	s.pos = start
	e, err := s.element(first)
	if err != nil {
		return nil, err
	}
	if fields := e.KeyFields(); len(fields) > 0 {
		return equalTo(fields), nil
	}
	return exact{e}, nil
}

// wildcardBracket reads what follows a bracket: *] or ~"glob"] or key fields, one of them with a glob. It reports false
// if it is something else.
func (s *pathScanner) wildcardBracket() (step, bool, error) {
	switch {
	case s.take('*'):
		return anyItem{}, true, s.end()
	case s.take('~'):
		g, err := s.glob()
		if err == nil {
			err = s.end()
		}
		return globbed{g}, true, err
	case !strings.Contains(s.text[s.pos:], "~"):
		return nil, false, nil
	}
	return s.predicates()
}

func (s *pathScanner) end() error {
	if !s.take(']') {
		return fmt.Errorf(`expected "]"`)
	}
	return nil
}

// predicates reads key fields. It reports false if there is none with a glob: then it is a key, a name or a position, or
// an error that the reader of paths explains.
func (s *pathScanner) predicates() (step, bool, error) {
	var out keyed
	globs := false
	for {
		name, _, err := s.name()
		if err != nil {
			return nil, globs, err
		}
		var test predicate
		switch {
		case s.take('~'):
			globs = true
			test, err = s.globPredicate(name)
		case s.take('='):
			test, err = s.equalPredicate(name)
		default:
			err = fmt.Errorf(`expected "=" or "~" after the key field %q`, name)
		}
		if err != nil {
			return nil, globs, err
		}
		out = append(out, test)
		if !s.take(',') {
			return out, globs, s.end()
		}
	}
}

func (s *pathScanner) globPredicate(name string) (predicate, error) {
	g, err := s.glob()
	return predicate{name: name, glob: g}, err
}

func (s *pathScanner) equalPredicate(name string) (predicate, error) {
	v, err := s.json()
	if err != nil {
		return predicate{}, err
	}
	e, err := Value(v)
	return predicate{name: name, value: e}, err
}

func (s *pathScanner) glob() (*regexp.Regexp, error) {
	v, err := s.json()
	if err != nil {
		return nil, err
	}
	text, ok := v.(string)
	if !ok {
		return nil, fmt.Errorf(`expected a text in quotes after "~"`)
	}
	parts := strings.Split(text, "*")
	for i := range parts {
		parts[i] = regexp.QuoteMeta(parts[i])
	}
	return regexp.Compile(`(?s)\A` + strings.Join(parts, ".*") + `\z`)
}
