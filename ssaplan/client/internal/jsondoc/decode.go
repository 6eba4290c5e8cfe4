package jsondoc

import (
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/json"
)

// Document is a JSON object as it was decoded, together with its text.
type Document struct {
	// Object is what the text decodes to. It may share memory with what [Document.DecodeLike] returns, so it must not
	// be modified.
	Object map[string]any

	text  string
	parts []part
}

// Records returns what the text of a record of managedFields (fieldsV1) decodes to, or nil to have it decoded with the
// rest. What it returns stands in several objects, so it must not be modified.
type Records func(text []byte) map[string]any

// Decode decodes a JSON object as json.Unmarshal of apimachinery does, several times faster for the answers of servers.
// The records are taken from there unless that is nil. It reports false for text that isn't JSON as servers write it;
// json.Unmarshal can decode that or name the error.
func Decode(body []byte, records Records) (*Document, bool) {
	parts := make([]part, 0, min(len(body)/100, 64)) // enough for most
	d := &decoder{body: body, text: string(body), ok: true, records: records, recording: true, parts: parts}
	object, ok := d.document()
	return &Document{object, d.text, d.parts}, ok
}

// IsRepeatedBy reports whether body is the very text of the document. A nil document is repeated by nothing.
func (doc *Document) IsRepeatedBy(body []byte) bool { return doc != nil && string(body) == doc.text }

// DecodeLike decodes body as [Decode] does, and shares with the document the values whose text is the same in both:
// they are not decoded again. It is meant for another state of the same object, and neither result may be modified. A
// nil document has nothing to share.
func (doc *Document) DecodeLike(body []byte, records Records) (map[string]any, bool) {
	d := &decoder{body: body, text: string(body), ok: true, records: records}
	if doc != nil {
		d.parts, d.last = doc.parts, len(doc.parts)
	}
	return d.document()
}

// decoder reads JSON. Once ok is false nothing that it returns counts.
type decoder struct {
	body    []byte
	text    string // of the body
	at      int
	ok      bool
	records Records

	recording bool   // makes parts; else they are those of another document
	parts     []part // see the type
	// first and last are where those parts begin and end that are left of the map or list that is like the one being
	// read.
	first, last int
}

func (d *decoder) document() (map[string]any, bool) {
	v := d.value(0)
	d.space()
	m, isMap := v.(map[string]any)
	return m, isMap && d.ok && d.at == len(d.text)
}

// deepest is how deep objects are that are decoded here.
const deepest = 200

func (d *decoder) value(depth int) any {
	switch c := d.next(); {
	case depth > deepest:
		d.fail()
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

// fail gives up, and ends the text, so that nothing goes on.
func (d *decoder) fail() { d.ok, d.at = false, len(d.text) }

func (d *decoder) space() {
	for d.at < len(d.text) && (d.text[d.at] == ' ' || d.text[d.at] == '\n') {
		d.at++
	}
}

// next returns the next byte that is no space, and 0 at the end.
func (d *decoder) next() byte {
	d.space()
	if d.at >= len(d.text) {
		d.fail()
		return 0
	}
	return d.text[d.at]
}

// skip goes past a byte that has to be there.
func (d *decoder) skip(c byte) {
	if d.next() != c {
		d.fail()
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
	if !first {
		d.fail()
	}
	return d.ok
}

func (d *decoder) object(depth int) map[string]any {
	m := map[string]any{}
	for first := true; d.more(first, '}'); first = false {
		if d.next() != '"' {
			d.fail()
			break
		}
		name := d.string()
		d.skip(':')
		m[name] = d.part(name, depth)
	}
	return m
}

func (d *decoder) list(depth int) []any {
	list := []any{}
	for first := true; d.more(first, ']'); first = false {
		list = append(list, d.part("", depth))
	}
	return list
}

func (d *decoder) word(word string, v any) any {
	if !strings.HasPrefix(d.text[d.at:], word) {
		d.fail()
		return nil
	}
	d.at += len(word)
	return v
}

// number reads a number; one that is no short integer is left to json.Unmarshal.
func (d *decoder) number() any {
	start := d.at
	for d.at < len(d.text) && strings.IndexByte("+-.0123456789eE", d.text[d.at]) >= 0 {
		d.at++
	}
	token := d.text[start:d.at]
	const short = 15
	if len(token) > 0 && len(token) <= short && token[0] >= '1' && token[0] <= '9' {
		if i, err := strconv.ParseInt(token, 10, 64); err == nil {
			return i
		}
	}
	return d.leave(token)
}

// leave has json.Unmarshal decode a token.
func (d *decoder) leave(token string) (v any) {
	if json.Unmarshal([]byte(token), &v) != nil {
		d.fail()
	}
	return v
}

func (d *decoder) string() string {
	d.at++
	start, plain := d.at, true
	for ; d.at < len(d.text); d.at++ {
		switch c := d.text[d.at]; {
		case c == '"':
			token := d.text[start:d.at]
			d.at++
			if plain {
				return d.keep(token)
			}
			return d.unescape(token)
		case c == '\\':
			plain = false
			d.at++
		case c < ' ' || c > '~':
			return d.other(start)
		}
	}
	d.fail()
	return ""
}

// keep returns a string that lives on. Those of a long text are copies, so that a short one doesn't keep it in memory.
func (d *decoder) keep(token string) string {
	const long = 64 << 10
	if len(d.text) > long {
		return strings.Clone(token)
	}
	return token
}

// other leaves a string to json.Unmarshal that has more than ASCII in it.
func (d *decoder) other(start int) string {
	for ; d.at < len(d.text) && d.text[d.at] != '"'; d.at++ {
		if d.text[d.at] == '\\' {
			d.at++
		}
	}
	if d.at >= len(d.text) {
		d.fail()
		return ""
	}
	d.at++
	s, _ := d.leave(d.text[start-1 : d.at]).(string)
	return s
}

// escapes are the characters that stand behind a backslash for others.
var escapes = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// escaped returns the character for what stands behind a backslash, and the length of that; 0 if it isn't known.
func escaped(escape string) (c byte, length int) {
	switch {
	case escapes[escape[0]] != 0:
		return escapes[escape[0]], 1
	case strings.HasPrefix(escape, "u003c"):
		return '<', 5
	case strings.HasPrefix(escape, "u003e"):
		return '>', 5
	case strings.HasPrefix(escape, "u0026"):
		return '&', 5
	}
	return 0, 0
}

// unescape decodes a string of ASCII. One with an escape by number, other than those that servers use for the
// characters of HTML, is left to json.Unmarshal.
func (d *decoder) unescape(token string) string {
	var b strings.Builder
	b.Grow(len(token))
	for rest := token; ; {
		plain, escape, found := strings.Cut(rest, `\`)
		b.WriteString(plain)
		if !found {
			return b.String()
		}
		c, length := escaped(escape)
		if length == 0 {
			s, _ := d.leave(`"` + token + `"`).(string)
			return s
		}
		b.WriteByte(c)
		rest = escape[length:]
	}
}
