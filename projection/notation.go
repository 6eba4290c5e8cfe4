package projection

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// ParsePattern reads a pattern. The error quotes the text and names the byte at which it becomes invalid.
func ParsePattern(text string) (Pattern, error) {
	if strings.HasPrefix(text, "/") {
		return parsePointer(text)
	}
	s := pathScanner{text: text}
	p := Pattern{text: text}
	isPath := (strings.HasPrefix(text, "$.") || strings.HasPrefix(text, "$[")) && s.take('$')
	for s.pos < len(text) {
		first := len(p.segments) == 0 && !isPath
		if first {
			s.take('.') // as kubectl writes JSONPath
		}
		next, err := s.patternSegment(p.segments, first)
		if err != nil {
			return Pattern{}, fmt.Errorf("projection: pattern %q: at byte %d: %w", text, s.pos, err)
		}
		p.segments = append(p.segments, next)
	}
	if p.segments == nil {
		return Pattern{}, fmt.Errorf("projection: pattern %q: would match everything", text)
	}
	return p, nil
}

// PatternOf returns the pattern without wildcards that matches the path.
func PatternOf(path Path) Pattern {
	p := Pattern{text: path.String()}
	for _, e := range path {
		p.segments = append(p.segments, segmentOf(e))
	}
	return p
}

func segmentOf(e Element) segment {
	if fields := e.KeyFields(); len(fields) > 0 {
		return equalTo(fields)
	}
	return exact{Element: e}
}

// parsePointer reads a JSON pointer (RFC 6901). The empty one and "/" make no sense here.
func parsePointer(text string) (Pattern, error) {
	p := Pattern{text: text}
	for _, token := range strings.Split(text[1:], "/") {
		if escapes := strings.ReplaceAll(strings.ReplaceAll(token, "~0", ""), "~1", ""); token == "" || strings.Contains(escapes, "~") {
			return Pattern{}, fmt.Errorf("projection: pattern %q: %q is no name in a JSON pointer", text, token)
		}
		p.segments = append(p.segments, pointed(strings.ReplaceAll(strings.ReplaceAll(token, "~1", "/"), "~0", "~")))
	}
	return p, nil
}

// pointed matches as the token of a JSON pointer does: a field of that name, or the item at that position.
type pointed string

func (s pointed) position() (int, bool) {
	n, _ := strconv.Atoi(string(s))
	return n, n >= 0 && strconv.Itoa(n) == string(s) // which no text is that is no number
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

// patternSegment reads what follows the segments.
func (s *pathScanner) patternSegment(before []segment, first bool) (segment, error) {
	if start := s.pos; holdsNames(before) && s.take('.') {
		if end := strings.IndexByte(s.text[s.pos:]+"[", '['); strings.ContainsAny(s.text[s.pos:s.pos+end], "./") {
			name := s.text[s.pos : s.pos+end]
			s.pos += end
			if strings.Contains(name, "*") {
				g, err := globOf(name)
				return globbed{g}, err
			}
			return exact{Element: Field(name)}, nil
		}
		s.pos = start
	}
	return s.segment(first)
}

// holdsNames reports whether what the segments match is a map from names, which may have dots, to texts.
func holdsNames(segments []segment) bool {
	n := len(segments)
	is := func(s segment, names ...string) bool {
		e, ok := s.(exact)
		return ok && slices.Contains(names, e.Name())
	}
	return n > 0 && is(segments[n-1], "matchLabels") || n > 1 && is(segments[n-1], "labels", "annotations") && is(segments[n-2], "metadata")
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
		return nil, fmt.Errorf(`expected a quoted string after "~"`)
	}
	return globOf(text)
}

// globOf returns the expression for a text in which * is any text. The only error is that of a text that isn't UTF-8.
func globOf(text string) (*regexp.Regexp, error) {
	parts := strings.Split(text, "*")
	for i := range parts {
		parts[i] = regexp.QuoteMeta(parts[i])
	}
	return regexp.Compile(`(?s)\A` + strings.Join(parts, ".*") + `\z`)
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
	value, err := Value(text)
	return predicate{name: name, value: value}, err
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
