package ssaplan

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/util/json"

	"github.com/ssaplan/primitives/projection"
)

// deepestSent is how deep a manifest may be: deeper ones no server reads, and one that contains itself has no end.
const deepestSent = 10_000

var errTooDeep = fmt.Errorf("the manifest has more than %d levels of maps and lists, or contains itself", deepestSent)

// tooDeep reports whether v has more than the given levels of maps and lists.
func tooDeep(v any, levels int) bool {
	if levels < 0 {
		return true
	}
	switch v := v.(type) {
	case map[string]any:
		for _, item := range v {
			if tooDeep(item, levels-1) {
				return true
			}
		}
	case []any:
		for _, item := range v {
			if tooDeep(item, levels-1) {
				return true
			}
		}
	}
	return false
}

// errNotUTF8 is what text is that JSON can't hold. Package json would put U+FFFD in its place, which can make two field
// names one.
var errNotUTF8 = errors.New("the text isn't UTF-8; encode it (in a Secret's data or a ConfigMap's binaryData, for example, as base64)")

// fieldError is what is wrong with the value of a field.
type fieldError struct {
	from []projection.Element // the path, last element first
	err  error
}

func (e *fieldError) Error() string {
	path := slices.Clone(e.from)
	slices.Reverse(path)
	return projection.Path(path).String() + ": " + e.err.Error()
}

func (e *fieldError) Unwrap() error { return e.err }

// below returns err as one of the field or item that is called name.
func below(name projection.Element, err error) error {
	if inner := (*fieldError)(nil); errors.As(err, &inner) {
		inner.from = append(inner.from, name)
		return inner
	}
	return &fieldError{[]projection.Element{name}, err}
}

// appendJSON appends the JSON of v, the same that json.Marshal makes. It spares what a manifest is made of the way
// through reflection. Text that isn't UTF-8 is an error. Errors name the field.
func appendJSON(b []byte, v any) ([]byte, error) {
	switch v := v.(type) {
	case string:
		return appendString(b, v)
	case int64:
		return strconv.AppendInt(b, v, 10), nil
	case bool:
		return strconv.AppendBool(b, v), nil
	case map[string]any:
		if v != nil {
			return appendMap(b, v)
		}
	case []any:
		if v != nil {
			return appendList(b, v)
		}
	}
	text, err := json.Marshal(v)
	return append(b, text...), err
}

func appendMap(b []byte, m map[string]any) (_ []byte, err error) {
	var few [16]string // most maps have no more fields, so their names need no memory of their own
	names := few[:0]
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	b = append(b, '{')
	for i, name := range names {
		if i > 0 {
			b = append(b, ',')
		}
		if b, err = appendString(b, name); err != nil {
			return nil, below(projection.Field(name), err)
		}
		if b, err = appendJSON(append(b, ':'), m[name]); err != nil {
			return nil, below(projection.Field(name), err)
		}
	}
	return append(b, '}'), nil
}

func appendList(b []byte, list []any) (_ []byte, err error) {
	b = append(b, '[')
	for i, item := range list {
		if i > 0 {
			b = append(b, ',')
		}
		if b, err = appendJSON(b, item); err != nil {
			return nil, below(projection.Index(i), err)
		}
	}
	return append(b, ']'), nil
}

// escapedAs are the characters that package json escapes, as it writes them. Others that aren't plain are left to it.
var escapedAs = [256]string{
	'"': `\"`, '\\': `\\`, '\n': `\n`, '\r': `\r`, '\t': `\t`, '<': `\u003c`, '>': `\u003e`, '&': `\u0026`,
}

func appendString(b []byte, s string) ([]byte, error) {
	start, done := len(b), 0
	b = append(b, '"')
	for i := range len(s) {
		switch c := s[i]; {
		case escapedAs[c] != "":
			b = append(append(b, s[done:i]...), escapedAs[c]...)
			done = i + 1
		case c < ' ' || c > '~':
			if !utf8.ValidString(s) {
				return nil, errNotUTF8
			}
			text, err := json.Marshal(s)
			return append(b[:start], text...), err
		}
	}
	return append(append(b, s[done:]...), '"'), nil
}
