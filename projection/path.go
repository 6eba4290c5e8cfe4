package projection

import (
	"slices"
	"strings"
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
// It is unambiguous for every possible name, key and value: [ParsePath] of it is the same path.
type Path []Element

// String returns the text form of p, and "" for the empty path.
func (p Path) String() string {
	var b strings.Builder
	for i, e := range p {
		writeElement(&b, e, i == 0)
	}
	return b.String()
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

// Compare orders paths element by element; a path comes before those below it.
func (p Path) Compare(other Path) int { return slices.CompareFunc(p, other, Element.Compare) }

// MarshalText returns the text form of p.
func (p Path) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText sets p to the path that text says; see [ParsePath].
func (p *Path) UnmarshalText(text []byte) error {
	parsed, err := ParsePath(string(text))
	if err == nil {
		*p = parsed
	}
	return err
}

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
		b.WriteString("[=" + visible(e.text) + "]")
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
			name = visible(f.name)
		}
		parts = append(parts, name+"="+visible(f.value))
	}
	if parts == nil {
		return "{}"
	}
	return strings.Join(parts, ",")
}

func quote(s string) string {
	text, _ := canonicalJSON(s) // can't fail for a string
	return visible(text)
}

// isPlainName reports whether a field can stand in a path without brackets and quotes. A name that starts with a
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
