package ssaplan

import (
	"bytes"
	"strconv"

	"k8s.io/apimachinery/pkg/util/json"
)

// decodeJSON decodes an object as json.Unmarshal does, several times faster for what servers answer. It reports false for
// what isn't JSON as they write it, of which json.Unmarshal can say more. Known collects the names of fields, which occur
// again and again, so that the next object shares them.
func decodeJSON(text []byte, known names) (map[string]any, bool) {
	if known == nil {
		known = names{}
	}
	d := &decoder{text: text, ok: true, names: known}
	v := d.value(0)
	d.space()
	m, isMap := v.(map[string]any)
	return m, isMap && d.ok && d.at == len(text)
}

// names are names of fields, by how they stand in JSON: those with escapes stand between quotes.
type names map[string]string

// decoder reads JSON. Once ok is false nothing that it returns counts.
type decoder struct {
	text  []byte
	at    int
	ok    bool
	names names
}

// manyNames is how many names are kept.
const manyNames = 500

// deepest is how deep objects are that are decoded here.
const deepest = 200

func (d *decoder) value(depth int) any {
	switch c := d.next(); {
	case depth > deepest:
		d.ok = false
	case c == '{':
		return d.object(depth + 1)
	case c == '[':
		return d.list(depth + 1)
	case c == '"':
		return d.string()
	case c == 't':
		return d.word("true", true)
	case c == 'f':
		return d.word("false", false)
	case c == 'n':
		return d.word("null", nil)
	default:
		return d.number()
	}
	return nil
}

func (d *decoder) space() {
	for d.at < len(d.text) && (d.text[d.at] == ' ' || d.text[d.at] == '\n') {
		d.at++
	}
}

// next returns the next byte that is no space, and 0 at the end.
func (d *decoder) next() byte {
	d.space()
	if d.at >= len(d.text) {
		d.ok = false
		return 0
	}
	return d.text[d.at]
}

// skip goes past a byte that has to be there.
func (d *decoder) skip(c byte) {
	if d.next() != c {
		d.ok = false
		return
	}
	d.at++
}

// more goes past the opening byte or the comma before another element, or past the byte that ends the elements.
func (d *decoder) more(first bool, end byte) bool {
	switch {
	case first:
		d.at++
	case d.next() == ',':
		d.at++
		return d.ok
	}
	if d.next() == end {
		d.at++
		return false
	}
	d.ok = d.ok && first
	return d.ok
}

func (d *decoder) object(depth int) map[string]any {
	m := map[string]any{}
	for first := true; d.more(first, '}'); first = false {
		if d.next() != '"' {
			d.ok = false
			break
		}
		name := d.name()
		d.skip(':')
		m[name] = d.value(depth)
	}
	return m
}

func (d *decoder) list(depth int) []any {
	list := []any{}
	for first := true; d.more(first, ']'); first = false {
		list = append(list, d.value(depth))
	}
	return list
}

func (d *decoder) word(word string, v any) any {
	if !bytes.HasPrefix(d.text[d.at:], []byte(word)) {
		d.ok = false
		return nil
	}
	d.at += len(word)
	return v
}

// number reads a number; one that is no short integer is left to json.Unmarshal.
func (d *decoder) number() any {
	start := d.at
	for d.at < len(d.text) && bytes.IndexByte([]byte("+-.0123456789eE"), d.text[d.at]) >= 0 {
		d.at++
	}
	token := d.text[start:d.at]
	const short = 15
	if len(token) > 0 && len(token) <= short && token[0] >= '1' && token[0] <= '9' {
		if i, err := strconv.ParseInt(string(token), 10, 64); err == nil {
			return i
		}
	}
	return d.leave(token)
}

// leave has json.Unmarshal decode a token.
func (d *decoder) leave(token []byte) (v any) {
	if json.Unmarshal(token, &v) != nil {
		d.ok = false
	}
	return v
}

func (d *decoder) name() string {
	token, plain := d.quoted()
	name, known := d.names[string(token)]
	switch {
	case known:
		return name
	case plain:
		name = string(token)
	default:
		name, _ = d.leave(token).(string)
	}
	if d.ok && len(d.names) < manyNames {
		d.names[string(token)] = name
	}
	return name
}

func (d *decoder) string() string {
	token, plain := d.quoted()
	if plain {
		return string(token)
	}
	s, _ := d.leave(token).(string)
	return s
}

// quoted returns a string without its quotes if that is all there is to it, and with them otherwise.
func (d *decoder) quoted() (token []byte, plain bool) {
	start, plain := d.at, true
	for d.at++; d.at < len(d.text); d.at++ {
		switch c := d.text[d.at]; {
		case c == '"':
			d.at++
			if plain {
				return d.text[start+1 : d.at-1], true
			}
			return d.text[start:d.at], false
		case c == '\\':
			plain = false
			d.at++
		case c < ' ' || c > '~':
			plain = false
		}
	}
	d.ok = false
	return nil, true
}
