package projection

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// parseSegments reads the text of a pattern. The error names the byte at which the text becomes invalid.
func parseSegments(text string) ([]segment, error) {
	if pointer, isPointer := strings.CutPrefix(text, "/"); isPointer {
		return parsePointer(pointer)
	}
	var segments []segment
	s := pathScanner{text: text}
	isPath := (strings.HasPrefix(text, "$.") || strings.HasPrefix(text, "$[")) && s.take('$')
	for s.pos < len(text) {
		first := len(segments) == 0 && !isPath
		if first {
			s.take('.') // as kubectl writes JSONPath
		}
		next, err := s.patternSegment(segments, first)
		if err != nil {
			return nil, fmt.Errorf("at byte %d: %w", s.pos, err)
		}
		segments = append(segments, next)
	}
	if segments == nil {
		return nil, errors.New("would match everything")
	}
	return segments, nil
}

// parsePointer reads what follows the first slash of a JSON pointer (RFC 6901). The empty one and "/" make no sense
// here.
func parsePointer(text string) ([]segment, error) {
	var segments []segment
	for _, token := range strings.Split(text, "/") {
		if escapes := strings.ReplaceAll(strings.ReplaceAll(token, "~0", ""), "~1", ""); token == "" ||
			strings.Contains(escapes, "~") {
			return nil, fmt.Errorf("%q is no name in a JSON pointer", token)
		}
		segments = append(segments, pointed(strings.ReplaceAll(strings.ReplaceAll(token, "~1", "/"), "~0", "~")))
	}
	return segments, nil
}

// patternSegment reads the next segment. A name may have dots if the segments before it lead to a map such as labels.
func (s *pathScanner) patternSegment(before []segment, first bool) (segment, error) {
	if start := s.pos; holdsNames(before) && s.take('.') {
		if end := strings.IndexByte(s.text[s.pos:]+"[", '['); strings.ContainsAny(s.text[s.pos:s.pos+end], "./") {
			name := s.text[s.pos : s.pos+end]
			s.pos += end
			if strings.Contains(name, "*") {
				return globOf(name)
			}
			return exact{Element: Field(name)}, nil
		}
		s.pos = start
	}
	return s.segment(first)
}

// holdsNames reports whether the segments lead to a map of texts whose keys may have dots.
func holdsNames(segments []segment) bool {
	n := len(segments)
	is := func(s segment, names ...string) bool {
		e, ok := s.(exact)
		return ok && slices.Contains(names, e.Name())
	}
	return n > 0 && is(segments[n-1], "matchLabels") || n > 1 && is(segments[n-1], "labels", "annotations") &&
		is(segments[n-2], "metadata")
}

func (s *pathScanner) segment(first bool) (segment, error) {
	start := s.pos
	if s.take('[') {
		if next, ok, err := s.wildcardBracket(); ok {
			return next, err
		}
	} else if (first || s.take('.')) && s.take('*') {
		return anyField{}, nil
	}
	s.pos = start
	isName := !s.peek('[')
	e, err := s.element(first)
	if err != nil {
		return nil, err
	}
	if isName {
		return exact{e, true}, nil
	}
	return segmentOf(e), nil
}

// wildcardBracket reads what follows a bracket: *] or ~"glob"] or key fields, one of them with a glob. It reports false
// if it is something else.
func (s *pathScanner) wildcardBracket() (segment, bool, error) {
	switch {
	case s.take('?'):
		next, err := s.condition()
		return next, true, err
	case s.peek('\''):
		name, err := s.quoted()
		if err == nil {
			err = s.end()
		}
		return exact{Element: Field(name)}, true, err
	case s.take('*'):
		return anyItem{}, true, s.end()
	case s.take('~'):
		next, err := s.glob()
		if err == nil {
			err = s.end()
		}
		return next, true, err
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

// predicates reads key fields. It reports false if there is none with a glob: then it is a key, a name or a position,
// or an error that the reader of paths explains.
func (s *pathScanner) predicates() (segment, bool, error) {
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
	test, err := s.glob()
	return predicate{name, test}, err
}

func (s *pathScanner) equalPredicate(name string) (predicate, error) {
	v, err := s.json()
	if err != nil {
		return predicate{}, err
	}
	return equalTo(name, v)
}

func (s *pathScanner) glob() (globbed, error) {
	v, err := s.json()
	if err != nil {
		return globbed{}, err
	}
	text, ok := v.(string)
	if !ok {
		return globbed{}, fmt.Errorf(`expected a quoted string after "~"`)
	}
	return globOf(text)
}

// globOf returns the segment for a text in which * is any text. The only error is that of a text that isn't UTF-8.
func globOf(text string) (globbed, error) {
	parts := strings.Split(text, "*")
	for i := range parts {
		parts[i] = regexp.QuoteMeta(parts[i])
	}
	expression, err := regexp.Compile(`(?s)\A` + strings.Join(parts, ".*") + `\z`)
	return globbed{expression}, err
}

// condition reads what follows the question mark of a condition in JSONPath, of which equality is understood:
// (@.name=='app' && @.port==80)], also without the parentheses.
func (s *pathScanner) condition() (segment, error) {
	parenthesis := s.take('(')
	var out keyed
	for {
		test, err := s.equality()
		if err != nil {
			return nil, err
		}
		out = append(out, test)
		if !s.takeText("&&") {
			break
		}
	}
	if parenthesis && !s.take(')') {
		return nil, errors.New(`expected ")": only fields of the item can be compared, by == and joined by &&`)
	}
	return out, s.end()
}

// equality reads the comparison of a field of an item with a value.
func (s *pathScanner) equality() (predicate, error) {
	var name string
	var err error
	switch {
	case s.takeText("@."):
		name = s.plainName()
	case s.takeText("@["):
		if name, err = s.quoted(); err == nil {
			err = s.end()
		}
	}
	if err == nil && name == "" {
		err = errors.New("expected @. and a field of the item")
	}
	if err != nil {
		return predicate{}, err
	}
	if !s.takeText("==") {
		return predicate{}, fmt.Errorf(`expected "==" after the field %q of the item`, name)
	}
	if s.skip(); !s.peek('\'') {
		return s.equalPredicate(name)
	}
	text, err := s.quoted()
	if err != nil {
		return predicate{}, err
	}
	return equalTo(name, text)
}

// quoted reads a text in single or double quotes.
func (s *pathScanner) quoted() (string, error) {
	if !s.take('\'') {
		v, err := s.json()
		if text, isText := v.(string); err != nil || isText {
			return text, err
		}
		return "", errors.New("expected a quoted string")
	}
	var text strings.Builder
	for !s.take('\'') {
		s.take('\\')
		if s.pos == len(s.text) {
			return "", errors.New("the quoted string has no end")
		}
		text.WriteByte(s.text[s.pos])
		s.pos++
	}
	return text.String(), nil
}

// takeText takes a text that may have spaces around it.
func (s *pathScanner) takeText(text string) bool {
	s.skip()
	if !strings.HasPrefix(s.text[s.pos:], text) {
		return false
	}
	s.pos += len(text)
	s.skip()
	return true
}

func (s *pathScanner) skip() {
	for s.take(' ') {
	}
}
