package projection

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// ParseFieldsV1 reads a set in the FieldsV1 form of metadata.managedFields. Entries of a kind that no known server
// writes (a letter other than f, k, v and i before the colon) are an error, like everything else that is not FieldsV1;
// the error names the entry. Rules of the format: k8s.io/apimachinery, meta/v1 FieldsV1.
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
	r := fieldsReader{text: string(data)}
	root, err := r.node(nil)
	return fieldsSet(root, err)
}

// fieldsSet makes a set of what was read. That the object itself is a member can't be said in FieldsV1: an object
// without entries says "owned" for a field, and "nothing" for the whole set.
func fieldsSet(root *node, err error) (FieldSet, error) {
	if err != nil {
		return FieldSet{}, fmt.Errorf("projection: FieldsV1: %w", err)
	}
	return FieldSet{&node{children: root.children}}.normal(), nil
}

// fieldsReader walks over text that is known to be JSON.
type fieldsReader struct {
	text string
	pos  int
}

func (r *fieldsReader) node(at Path) (*node, error) {
	if r.next() != '{' {
		return nil, notAnObject(at)
	}
	r.pos++
	n := &node{}
	for r.next() != '}' {
		if r.text[r.pos] == ',' {
			r.pos++
			r.next()
		}
		if err := r.entry(n, at); err != nil {
			return nil, err
		}
	}
	r.pos++
	return finish(n, at)
}

func (r *fieldsReader) entry(n *node, at Path) error {
	end := r.pos + stringToken(r.text[r.pos:])
	key := unquote(r.text[r.pos:end])
	r.pos = end
	r.next() // the colon
	r.pos++
	e, err := entryElement(key, at)
	if err != nil {
		return err
	}
	sub, err := r.node(append(at, e))
	if err != nil {
		return err
	}
	n.add(key, e, sub)
	return nil
}

// next skips space and returns the byte there.
func (r *fieldsReader) next() byte {
	for strings.IndexByte(" \t\r\n", r.text[r.pos]) >= 0 {
		r.pos++
	}
	return r.text[r.pos]
}

// fieldsNode reads what JSON decoding has made of FieldsV1.
func fieldsNode(v any, at Path) (*node, error) {
	entries, ok := v.(map[string]any)
	switch {
	case !ok:
		return nil, notAnObject(at)
	case len(entries) == 0:
		return leaf, nil
	}
	n := &node{children: make([]child, 0, len(entries))}
	for key, entry := range entries {
		e, err := entryElement(key, at)
		if err != nil {
			return nil, err
		}
		sub, err := fieldsNode(entry, append(at, e))
		if err != nil {
			return nil, err
		}
		n.add(key, e, sub)
	}
	return finish(n, at)
}

// selfKey is the entry that says that the field itself is owned, beside fields below it.
const selfKey = "."

func (n *node) add(key string, e Element, sub *node) {
	if key == selfKey {
		n.member = true
		return
	}
	n.children = append(n.children, child{e, sub})
}

// finish sorts the children of a node that has been read, most often for nothing.
func finish(n *node, at Path) (*node, error) {
	if len(n.children) == 0 {
		return leaf, nil
	}
	compare := func(a, b child) int { return a.element.Compare(b.element) }
	if !slices.IsSortedFunc(n.children, compare) {
		slices.SortFunc(n.children, compare)
	}
	for i := 1; i < len(n.children); i++ {
		if e := n.children[i].element; e == n.children[i-1].element {
			return nil, fmt.Errorf("entry %s stands twice in %s", appendEntryName(nil, e), entryName(at))
		}
	}
	return n, nil
}

func notAnObject(at Path) error { return fmt.Errorf("%s is not an object", entryName(at)) }

func entryName(at Path) string {
	if len(at) == 0 {
		return "the top level"
	}
	return at.String()
}

// entryElement returns the element that an entry stands for; for "." a field of that name, for error texts only.
func entryElement(key string, at Path) (Element, error) {
	if key == selfKey {
		return Field(selfKey), nil
	}
	e, err := parseFieldsV1Element(key)
	if err != nil {
		return Element{}, fmt.Errorf("entry %q in %s: %w", key, entryName(at), err)
	}
	return e, nil
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
		v, err := decodeJSON(content)
		if err != nil {
			return Element{}, fmt.Errorf("value is not JSON: %w", err)
		}
		return Value(v)
	case 'i':
		i, err := strconv.Atoi(content)
		if err != nil || i < 0 {
			return Element{}, errors.New("position is not a number from 0")
		}
		return Index(i), nil
	}
	return Element{}, fmt.Errorf("unknown kind %q", key[:1])
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
	previous, first := "", true
	for ok {
		var name string
		if name, rest, ok = cutPlainString(rest); !ok || name <= previous && !first {
			return false
		}
		previous, first = name, false
		if rest, ok = strings.CutPrefix(rest, ":"); !ok {
			return false
		}
		if _, rest, ok = cutPlainString(rest); !ok {
			if rest, ok = cutInteger(rest); !ok {
				return false
			}
		}
		if rest == "}" {
			return true
		}
		rest, ok = strings.CutPrefix(rest, ",")
	}
	return false
}

func cutPlainString(text string) (value, rest string, ok bool) {
	body, ok := strings.CutPrefix(text, `"`)
	if !ok {
		return "", text, false
	}
	end := strings.IndexByte(body, '"')
	if end < 0 || !isPlainText(body[:end]) {
		return "", text, false
	}
	return body[:end], body[end+1:], true
}

// cutInteger cuts a positive integer of a length that can't overflow.
func cutInteger(text string) (rest string, ok bool) {
	n := 0
	for n < len(text) && text[n] >= '0' && text[n] <= '9' {
		n++
	}
	if n == 0 || n > 15 || text[0] == '0' && n > 1 {
		return text, false
	}
	return text[n:], true
}

// FieldsV1 returns s in the form of metadata.managedFields, byte for byte as a server writes it.
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
	const hex = "0123456789abcdef"
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
			b = append(b, '\\', 'u', hex[r>>12], hex[r>>8&15], hex[r>>4&15], hex[r&15])
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
