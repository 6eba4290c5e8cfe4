package projection

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// ParseFieldsV1 reads a set in the FieldsV1 form of metadata.managedFields. An entry with another letter than f, k, v
// or i before the colon, which no known server writes, is an error, as is everything else that isn't FieldsV1. The
// error names the entry. Rules of the format: k8s.io/apimachinery, meta/v1 FieldsV1.
func ParseFieldsV1(data []byte) (FieldSet, error) {
	data = bytes.TrimSpace(data)
	if len(data) == 0 {
		return FieldSet{}, errors.New("projection: FieldsV1: empty")
	}
	if string(data) == "null" {
		return FieldSet{}, nil
	}
	if !json.Valid(data) {
		return FieldSet{}, errors.New("projection: FieldsV1: not JSON")
	}
	r := fieldsReader{text: json.NewDecoder(bytes.NewReader(data))}
	root, err := r.node()
	return fieldsSet(root, err)
}

// DecodeFieldsV1 does what [ParseFieldsV1] does, for FieldsV1 that JSON decoding has made a map.
func DecodeFieldsV1(decoded any) (FieldSet, error) {
	if decoded = plain(decoded); decoded == nil {
		return FieldSet{}, nil
	}
	root, err := (&fieldsReader{}).decoded(decoded)
	return fieldsSet(root, err)
}

// fieldsSet makes a set of what was read. FieldsV1 can't express that the object itself is a
// member: an object without entries is an owned field, and the empty set at the top.
func fieldsSet(root *node, err error) (FieldSet, error) {
	if err != nil {
		return FieldSet{}, fmt.Errorf("projection: FieldsV1: %w", err)
	}
	return FieldSet{&node{children: root.children}}.normal(), nil
}

// fieldsReader reads FieldsV1, and knows where it is for the sake of errors.
type fieldsReader struct {
	path Path
	text *json.Decoder // known to be JSON
}

// node reads the next value of the text, which has to be an object.
func (r *fieldsReader) node() (*node, error) {
	if open, err := r.text.Token(); err != nil || open != json.Delim('{') {
		return nil, cmp.Or(err, r.notAnObject())
	}
	n := &node{}
	for r.text.More() {
		key, err := r.text.Token()
		if err != nil {
			return nil, err
		}
		if err := r.entry(n, key.(string), r.node); err != nil { // a token in its place is a name
			return nil, err
		}
	}
	if _, err := r.text.Token(); err != nil {
		return nil, err
	}
	return r.finish(n)
}

// decoded reads what JSON decoding has made of an object.
func (r *fieldsReader) decoded(v any) (*node, error) {
	entries, ok := v.(map[string]any)
	switch {
	case !ok:
		return nil, r.notAnObject()
	case len(entries) == 0:
		return leaf, nil
	}
	n := &node{children: make([]child, 0, len(entries))}
	var failed error
	var at string
	for key, value := range entries {
		err := r.entry(n, key, func() (*node, error) { return r.decoded(value) })
		if err != nil && (failed == nil || key < at) { // the same error each time
			failed, at = err, key
		}
	}
	if failed != nil {
		return nil, failed
	}
	return r.finish(n)
}

// selfKey is the entry for the field itself, beside those for fields below it.
const selfKey = "."

// entry adds the entry called key, whose object read reads, to n.
func (r *fieldsReader) entry(n *node, key string, read func() (*node, error)) error {
	e, err := Field(selfKey), error(nil)
	if key != selfKey {
		e, err = parseFieldsV1Element(key)
	}
	if err != nil {
		return fmt.Errorf("entry %q in %s: %w", key, r.place(), err)
	}
	r.path = append(r.path, e)
	sub, err := read()
	r.path = r.path[:len(r.path)-1]
	switch {
	case err != nil:
		return err
	case key == selfKey:
		n.member = true
	default:
		n.children = append(n.children, child{e, sub})
	}
	return nil
}

func (r *fieldsReader) finish(n *node) (*node, error) {
	if len(n.children) == 0 {
		return leaf, nil
	}
	if e, twice := sortUnique(n.children); twice {
		return nil, fmt.Errorf("entry %s appears twice in %s", appendEntryName(nil, e), r.place())
	}
	return n, nil
}

func (r *fieldsReader) notAnObject() error { return fmt.Errorf("%s is not an object", r.place()) }

func (r *fieldsReader) place() string {
	if len(r.path) == 0 {
		return "the top level"
	}
	return r.path.String()
}

func parseFieldsV1Element(key string) (Element, error) {
	if len(key) < 2 || key[1] != ':' {
		return Element{}, errors.New(`expected ".", "f:", "k:", "v:" or "i:"`)
	}
	content := key[2:]
	switch key[0] {
	case 'f':
		return Field(content), nil
	case 'k':
		return parseKeyElement(content)
	case 'v':
		return parseValueElement(content)
	case 'i':
		i, err := strconv.Atoi(content)
		if err != nil || i < 0 {
			return Element{}, errors.New("position is not a number from 0")
		}
		return Index(i), nil
	}
	return Element{}, fmt.Errorf("unknown kind %q", key[:1])
}

func parseValueElement(content string) (Element, error) {
	if rest, ok := cutPlainValue(content); ok && rest == "" {
		return Element{ValueKind, content}, nil
	}
	v, err := decodeJSON(content)
	if err != nil {
		return Element{}, fmt.Errorf("value is not JSON: %w", err)
	}
	return Value(v)
}

func parseKeyElement(content string) (Element, error) {
	if isCanonicalKey(content) {
		return Element{KeyKind, content}, nil
	}
	v, err := decodeJSON(content)
	if err != nil {
		return Element{}, fmt.Errorf("key is not JSON: %w", err)
	}
	fields, ok := v.(map[string]any)
	if !ok {
		return Element{}, errors.New("key is not an object")
	}
	return Key(fields)
}

// isCanonicalKey reports whether text is an object with plain strings and short integers for values, in the form that
// canonicalJSON would give it. Nearly every key is such, and needs no decoding.
func isCanonicalKey(text string) bool {
	rest, ok := strings.CutPrefix(text, "{")
	for previous := ""; ok; {
		var name string
		if name, rest, ok = cutPlainString(rest); !ok || name <= previous {
			return false
		}
		previous = name
		if rest, ok = strings.CutPrefix(rest, ":"); !ok {
			return false
		}
		if rest, ok = cutPlainValue(rest); !ok {
			return false
		}
		if rest == "}" {
			return true
		}
		rest, ok = strings.CutPrefix(rest, ",")
	}
	return false
}

// cutPlainValue cuts a string or integer that is its own canonical JSON.
func cutPlainValue(text string) (rest string, ok bool) {
	if _, rest, ok = cutPlainString(text); ok {
		return rest, true
	}
	rest = strings.TrimLeft(text, "-0123456789")
	integer := text[:len(text)-len(rest)]
	i, _ := strconv.ParseInt(integer, 10, 64)
	return rest, strconv.FormatInt(i, 10) == integer
}

func cutPlainString(text string) (value, rest string, ok bool) {
	body, ok := strings.CutPrefix(text, `"`)
	if !ok {
		return "", "", false
	}
	value, rest, ok = strings.Cut(body, `"`)
	return value, rest, ok && isPlainText(value)
}

// FieldsV1 returns s in the form of metadata.managedFields, byte for byte as a server writes it. An empty path has no
// such form and is left out.
func (s FieldSet) FieldsV1() []byte {
	if s.root == nil {
		return []byte("{}")
	}
	return (&node{children: s.root.children}).appendFieldsV1(nil)
}

func (n *node) appendFieldsV1(b []byte) []byte {
	b = append(b, '{')
	if n.member && len(n.children) > 0 {
		b = append(b, `".":{},`...)
	}
	for i, c := range n.children {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(appendEntryName(b, c.element), ':')
		b = c.node.appendFieldsV1(b)
	}
	return append(b, '}')
}

func appendEntryName(b []byte, e Element) []byte {
	switch e.kind {
	case KeyKind:
		return appendServerString(b, "k:"+serverKey(e.text), true)
	case ValueKind:
		return appendServerString(b, "v:"+serverValue(e.text), true)
	case IndexKind:
		return appendServerString(b, "i:"+e.text, true)
	}
	return appendServerString(b, "f:"+e.text, true)
}

// serverKey returns the canonical JSON of a key as a server writes it.
func serverKey(text string) string {
	if !strings.ContainsAny(text, `<>&\`) && !strings.Contains(text, "e-") {
		return text
	}
	var b []byte
	fields := keyFields(text)
	for f, ok := fields.next(); ok; f, ok = fields.next() {
		b = append(appendServerString(append(b, ','), unquote(f.name), false), ':')
		b = append(b, serverValue(f.value)...)
	}
	b[0] = '{'
	return string(append(b, '}'))
}

// serverValue returns the canonical JSON of a value as a server writes it: 1e-09 where package json writes 1e-9.
func serverValue(text string) string {
	if text[0] == '"' {
		return string(appendServerString(nil, unquote(text), true))
	}
	if mantissa, exponent, ok := strings.Cut(text, "e-"); ok && len(exponent) == 1 {
		return mantissa + "e-0" + exponent
	}
	return text
}

// appendServerString appends the JSON of s with the escapes that a server uses; they differ from those of package json
// for some control characters. Of the html ones it escapes those in values and none in names of key fields.
func appendServerString(b []byte, s string, html bool) []byte {
	b = append(b, '"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case r == '\n':
			b = append(b, '\\', 'n')
		case r == '\r':
			b = append(b, '\\', 'r')
		case r == '\t':
			b = append(b, '\\', 't')
		case r < ' ' || html && (r == '<' || r == '>' || r == '&' || r == '\u2028' || r == '\u2029'):
			b = fmt.Appendf(b, `\u%04x`, r)
		default:
			b = utf8.AppendRune(b, r)
		}
	}
	return append(b, '"')
}

// MarshalJSON returns [FieldSet.FieldsV1].
func (s FieldSet) MarshalJSON() ([]byte, error) { return s.FieldsV1(), nil }

// UnmarshalJSON reads FieldsV1; see [ParseFieldsV1].
func (s *FieldSet) UnmarshalJSON(data []byte) error {
	parsed, err := ParseFieldsV1(data)
	if err == nil {
		*s = parsed
	}
	return err
}
