package projection

import (
	"strings"
	"unicode/utf8"
)

// FieldsV1 returns s in the form of metadata.managedFields, byte for byte as a server writes it. The empty path can't be
// said in this form and is left out.
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
