package projection

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// ParsePath reads the text form of a path. The error names the text and the byte at which it stops making sense.
func ParsePath(text string) (Path, error) {
	s := pathScanner{text: text}
	path := Path{}
	for s.pos < len(text) {
		e, err := s.element(len(path) == 0)
		if err != nil {
			return nil, fmt.Errorf("projection: path %q: at byte %d: %w", text, s.pos, err)
		}
		path = append(path, e)
	}
	return path, nil
}

type pathScanner struct {
	text string
	pos  int
}

func (s *pathScanner) element(first bool) (Element, error) {
	switch {
	case s.take('['):
		e, err := s.bracket()
		if err == nil && !s.take(']') {
			err = fmt.Errorf(`expected "]"`)
		}
		return e, err
	case first || s.take('.'):
		name := s.plainName()
		if name == "" {
			return Element{}, fmt.Errorf(`expected a field name (write others as ["name"])`)
		}
		return Field(name), nil
	}
	return Element{}, fmt.Errorf(`expected "." or "["`)
}

// bracket reads what stands between brackets: "name", 0, =value, key=value,… or {}.
func (s *pathScanner) bracket() (Element, error) {
	switch {
	case s.take('='):
		v, err := s.json()
		if err != nil {
			return Element{}, err
		}
		return Value(v)
	case strings.HasPrefix(s.text[s.pos:], "{}"):
		s.pos += 2
		return Key(map[string]any{})
	case s.peekDigit():
		return s.index()
	}
	name, quoted, err := s.name()
	if err != nil {
		return Element{}, err
	}
	if quoted && !s.peek('=') {
		return Field(name), nil
	}
	return s.key(name)
}

func (s *pathScanner) key(name string) (Element, error) {
	fields := map[string]any{}
	for {
		if _, twice := fields[name]; twice {
			return Element{}, fmt.Errorf("key field %q stands twice", name)
		}
		if !s.take('=') {
			return Element{}, fmt.Errorf(`expected "=" after the key field %q`, name)
		}
		v, err := s.json()
		if err != nil {
			return Element{}, err
		}
		fields[name] = v
		if !s.take(',') {
			return Key(fields)
		}
		if name, _, err = s.name(); err != nil {
			return Element{}, err
		}
	}
}

func (s *pathScanner) index() (Element, error) {
	start := s.pos
	for s.peekDigit() {
		s.pos++
	}
	i, err := strconv.Atoi(s.text[start:s.pos])
	if err != nil || strconv.Itoa(i) != s.text[start:s.pos] {
		return Element{}, fmt.Errorf("%q is not a position", s.text[start:s.pos])
	}
	return Index(i), nil
}

func (s *pathScanner) name() (name string, quoted bool, err error) {
	if !s.peek('"') {
		if name = s.plainName(); name == "" {
			err = fmt.Errorf("expected a name, a position or =value")
		}
		return name, false, err
	}
	v, err := s.json()
	name, _ = v.(string)
	return name, true, err
}

func (s *pathScanner) plainName() string {
	start := s.pos
	for s.pos < len(s.text) && isNameByte(s.text[s.pos], s.pos == start) {
		s.pos++
	}
	return s.text[start:s.pos]
}

// json reads one JSON value and leaves the scanner behind it.
func (s *pathScanner) json() (any, error) {
	dec := json.NewDecoder(strings.NewReader(s.text[s.pos:]))
	var raw json.RawMessage
	if err := dec.Decode(&raw); err != nil {
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			return nil, fmt.Errorf("expected a JSON value, found the end")
		}
		return nil, fmt.Errorf("expected a JSON value: %w", err)
	}
	s.pos += int(dec.InputOffset())
	return decodeJSON(string(raw))
}

func (s *pathScanner) peek(c byte) bool { return s.pos < len(s.text) && s.text[s.pos] == c }

func (s *pathScanner) peekDigit() bool {
	return s.pos < len(s.text) && s.text[s.pos] >= '0' && s.text[s.pos] <= '9'
}

func (s *pathScanner) take(c byte) bool {
	if !s.peek(c) {
		return false
	}
	s.pos++
	return true
}
