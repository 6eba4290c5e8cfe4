package projection

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
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
	root, err := r.node()
	return fieldsSet(root, err)
}

// DecodeFieldsV1 reads what [ParseFieldsV1] does, from what JSON decoding has made of it.
func DecodeFieldsV1(decoded any) (FieldSet, error) {
	if decoded = plain(decoded); decoded == nil {
		return FieldSet{}, nil
	}
	root, err := (&fieldsReader{}).decoded(decoded)
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

// fieldsReader reads FieldsV1, and knows where it is for the sake of errors.
type fieldsReader struct {
	path Path
	text string // known to be JSON
	pos  int
}

// node reads the object at the position.
func (r *fieldsReader) node() (*node, error) {
	if r.next() != '{' {
		return nil, r.notAnObject()
	}
	r.pos++
	n := &node{}
	for r.next() != '}' {
		if r.text[r.pos] == ',' {
			r.pos++
			r.next()
		}
		end := r.pos + stringToken(r.text[r.pos:])
		key := unquote(r.text[r.pos:end])
		r.pos = end
		r.next() // the colon
		r.pos++
		if err := r.entry(n, key, r.node); err != nil {
			return nil, err
		}
	}
	r.pos++
	return r.finish(n)
}

// next skips space and returns the byte there.
func (r *fieldsReader) next() byte {
	for {
		switch c := r.text[r.pos]; c {
		case ' ', '\t', '\r', '\n':
			r.pos++
		default:
			return c
		}
	}
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
	for key, entry := range entries {
		if err := r.entry(n, key, func() (*node, error) { return r.decoded(entry) }); err != nil {
			return nil, err
		}
	}
	return r.finish(n)
}

// selfKey is the entry that says that the field itself is owned, beside fields below it.
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
		return nil, fmt.Errorf("entry %s stands twice in %s", appendEntryName(nil, e), r.place())
	}
	return n, nil
}

// sortUnique sorts children. It returns an element that stands twice, if there is one.
func sortUnique(children []child) (Element, bool) {
	sortChildren(children)
	for i := 1; i < len(children); i++ {
		if e := children[i].element; e == children[i-1].element {
			return e, true
		}
	}
	return Element{}, false
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
	return cutInteger(text)
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
