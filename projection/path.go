package projection

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/ssaplan/primitives/projection/foreign"
)

// Path leads from the root of an object to one place in it. The empty path is the object itself.
//
// The text form joins fields with dots and puts everything else in brackets:
//
//	spec.template.spec.containers[name="app"].image
//	metadata.annotations["a.b/c"]
//	spec.ports[containerPort=80,protocol="TCP"]
//	metadata.finalizers[="x/y"]
//	spec.args[0]
//
// It is unambiguous for every name, key and value: [ParsePath] returns the same path again.
type Path []Element

// String returns the text form of p, and "" for the empty path.
func (p Path) String() string {
	var b strings.Builder
	for i, e := range p {
		writeElement(&b, e, i == 0)
	}
	return b.String()
}

// JoinPaths returns the paths as a list for people: "spec.replicas, spec.paused".
func JoinPaths(paths []Path) string {
	texts := make([]string, len(paths))
	for i, path := range paths {
		texts[i] = path.String()
	}
	return strings.Join(texts, ", ")
}

// Child returns the path that continues p with e. It never changes p's memory.
func (p Path) Child(e Element) Path {
	child := make(Path, len(p)+1)
	copy(child, p)
	child[len(p)] = e
	return child
}

// Equal reports whether p and other have the same elements.
func (p Path) Equal(other Path) bool { return slices.Equal(p, other) }

// HasPrefix reports whether p is prefix or lies below it.
func (p Path) HasPrefix(prefix Path) bool {
	return len(p) >= len(prefix) && slices.Equal(p[:len(prefix)], prefix)
}

// IsKey reports whether p is a key field of the list item that it is in.
func (p Path) IsKey() bool {
	if len(p) < 2 {
		return false
	}
	_, isKey := p[len(p)-2].KeyFields()[p[len(p)-1].Name()]
	return isKey
}

// Compare orders paths element by element; a path comes before those below it.
func (p Path) Compare(other Path) int { return slices.CompareFunc(p, other, Element.Compare) }

// MarshalText returns the text form of p.
func (p Path) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText sets p to the path of the text; see [ParsePath].
func (p *Path) UnmarshalText(text []byte) error {
	parsed, err := ParsePath(string(text))
	if err == nil {
		*p = parsed
	}
	return err
}

// deep is as long as most paths are at most.
const deep = 16

func writeElement(b *strings.Builder, e Element, first bool) {
	switch e.kind {
	case FieldKind:
		switch {
		case !isPlainName(e.text):
			b.WriteString("[" + quote(e.text) + "]")
		case first:
			b.WriteString(e.text)
		default:
			b.WriteString("." + e.text)
		}
	case KeyKind:
		b.WriteString("[" + keyText(e.text) + "]")
	case ValueKind:
		b.WriteString("[=" + foreign.VisibleJSON(e.text) + "]")
	case IndexKind:
		b.WriteString("[" + e.text + "]")
	}
}

// keyText turns {"name":"app"} into name="app".
func keyText(text string) string {
	var parts []string
	fields := keyFields(text)
	for f, ok := fields.next(); ok; f, ok = fields.next() {
		name := unquote(f.name)
		if !isPlainName(name) {
			name = foreign.VisibleJSON(f.name)
		}
		parts = append(parts, name+"="+foreign.VisibleJSON(f.value))
	}
	if parts == nil {
		return "{}"
	}
	return strings.Join(parts, ",")
}

func quote(s string) string {
	text, _ := canonicalJSON(s) // can't fail for a string
	return foreign.VisibleJSON(text)
}

// isPlainName reports whether a path has the name of a field without brackets and quotes. A name that starts with a
// digit can't: spec.0 would read like a position.
func isPlainName(name string) bool {
	for i := range len(name) {
		if !isNameByte(name[i], i == 0) {
			return false
		}
	}
	return name != ""
}

func isNameByte(c byte, first bool) bool {
	switch {
	case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c == '_', c == '$':
		return true
	case c >= '0' && c <= '9', c == '-':
		return !first
	}
	return false
}

// ParsePath reads the text form of a path. The error quotes the text and names the byte at which it becomes invalid.
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

// bracket reads the text between brackets: "name", 0, =value, key=value,… or {}.
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
			return Element{}, fmt.Errorf("key field %q appears twice", name)
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
