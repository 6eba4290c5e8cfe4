package fastjson

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/util/json"

	"github.com/ssaplan/primitives/projection"
)

// Deepest is how many levels of maps and lists an object may have. Decoders read no deeper JSON or YAML, neither those
// of servers nor those of clients (maxNestingDepth in encoding/json). An object that contains itself has no end.
const Deepest = 10_000

// ErrTooDeep is the error for a manifest that no server reads, or that contains itself.
var ErrTooDeep = fmt.Errorf("the manifest has more than %d levels of maps and lists, or contains itself", Deepest)

// IsTooDeep reports whether encoding the object gives [ErrTooDeep].
func IsTooDeep(object map[string]any) bool { return tooDeep(object, Deepest) }

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

// ErrNotPlain is the error of [Encoder.EncodePlain] for a value that is null or of a type that JSON decoding doesn't
// make.
var ErrNotPlain = errors.New("the value isn't plain")

// errNotUTF8 is the error for text that JSON can't hold. Package json would put U+FFFD in its place, which can make two
// field names one.
var errNotUTF8 = errors.New("the string isn't UTF-8; " +
	"encode it (in a Secret's data or a ConfigMap's binaryData, for example, as base64)")

// fieldError is an error about the value of a field.
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

// below returns err with name added to the front of its path. name is the field or item that contains the error.
func below(name projection.Element, err error) error {
	if errors.Is(err, ErrTooDeep) || errors.Is(err, ErrNotPlain) {
		return err // where doesn't matter
	}
	if inner := (*fieldError)(nil); errors.As(err, &inner) {
		inner.from = append(inner.from, name)
		return inner
	}
	return &fieldError{[]projection.Element{name}, err}
}

// Encode returns the JSON of an object, the same that json.Marshal makes, without reflection for the types that JSON
// decoding makes. In addition, it escapes the characters that YAML would read in another way. Text that isn't UTF-8 is
// an error, and so is an object that is too deep: see [ErrTooDeep]. Errors name the field.
func Encode(object map[string]any) ([]byte, error) {
	e := NewEncoder()
	defer e.Release()
	if err := e.Encode(object); err != nil {
		return nil, err
	}
	return bytes.Clone(e.text), nil
}

// Encoder encodes into memory that is used again.
type Encoder struct {
	text      []byte
	plainOnly bool
}

// encoders are free encoders. Each keeps the memory of its last text, which may still be in the processor's caches.
var encoders = sync.Pool{New: func() any { return &Encoder{} }}

// NewEncoder returns an encoder to be released after use.
func NewEncoder() *Encoder { return encoders.Get().(*Encoder) }

// Release ends the use of the encoder and of its text.
func (e *Encoder) Release() { encoders.Put(e) }

// Text returns the JSON of the object that was encoded last. It is valid until the encoder is used again or released.
func (e *Encoder) Text() []byte { return e.text }

// Encode encodes an object as the function [Encode] does.
func (e *Encoder) Encode(object map[string]any) error { return e.start(object, false) }

// EncodePlain is Encode for an object in whose values projection.Normalize has nothing to do. For others the error is
// [ErrNotPlain].
func (e *Encoder) EncodePlain(object map[string]any) error { return e.start(object, true) }

func (e *Encoder) start(object map[string]any, plainOnly bool) error {
	e.text, e.plainOnly = e.text[:0], plainOnly
	return e.value(object, Deepest)
}

// value adds v, which may have so many levels of maps and lists.
func (e *Encoder) value(v any, levels int) error {
	switch v := v.(type) {
	case string:
		return e.string(v)
	case int64:
		e.text = strconv.AppendInt(e.text, v, 10)
		return nil
	case bool:
		e.text = strconv.AppendBool(e.text, v)
		return nil
	case map[string]any:
		if v != nil {
			return e.fields(v, levels-1)
		}
	case []any:
		if v != nil {
			return e.items(v, levels-1)
		}
	case float64:
		return e.other(v)
	}
	if e.plainOnly {
		return ErrNotPlain
	}
	return e.other(v)
}

func (e *Encoder) other(v any) error {
	text, err := json.Marshal(v)
	if err == nil && !isUTF8(reflect.ValueOf(v)) {
		err = errNotUTF8
	}
	e.text = appendForYAML(e.text, text)
	return err
}

// appendForYAML appends JSON to a text. It escapes the characters that quoted YAML can't have or reads in another way.
// Servers read an apply as YAML: they would refuse some of these characters. U+0085 is a line break in YAML, which they
// would turn into a space.
func appendForYAML(to, text []byte) []byte {
	for len(text) > 0 {
		next := bytes.IndexFunc(text, func(r rune) bool { return r >= 0x7f && r < 0xa0 || r == 0xfffe || r == 0xffff })
		if next < 0 {
			break
		}
		r, size := utf8.DecodeRune(text[next:])
		to = fmt.Appendf(append(to, text[:next]...), `\u%04x`, r)
		text = text[next+size:]
	}
	return append(to, text...)
}

// isUTF8 reports whether all strings in a value are UTF-8. The value may be of any type. Maps and lists in it must not
// contain themselves.
func isUTF8(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.String:
		return utf8.ValidString(v.String())
	case reflect.Interface:
		return isUTF8(v.Elem())
	case reflect.Map:
		for entries := v.MapRange(); entries.Next(); {
			if !isUTF8(entries.Key()) || !isUTF8(entries.Value()) {
				return false
			}
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			if !isUTF8(v.Index(i)) {
				return false
			}
		}
	}
	return true
}

type field struct {
	name  string
	value any
}

func (e *Encoder) fields(m map[string]any, levels int) error {
	if levels < 0 {
		return ErrTooDeep
	}
	var few [16]field // most maps have no more, and need no memory of their own here
	fields := few[:0]
	for name, value := range m {
		fields = append(fields, field{name, value})
	}
	slices.SortFunc(fields, func(a, b field) int { return strings.Compare(a.name, b.name) })
	e.text = append(e.text, '{')
	for i := range fields {
		if i > 0 {
			e.text = append(e.text, ',')
		}
		if err := e.string(fields[i].name); err != nil {
			return below(projection.Field(fields[i].name), err)
		}
		e.text = append(e.text, ':')
		if err := e.value(fields[i].value, levels); err != nil {
			return below(projection.Field(fields[i].name), err)
		}
	}
	e.text = append(e.text, '}')
	return nil
}

func (e *Encoder) items(list []any, levels int) error {
	if levels < 0 {
		return ErrTooDeep
	}
	e.text = append(e.text, '[')
	for i, item := range list {
		if i > 0 {
			e.text = append(e.text, ',')
		}
		if err := e.value(item, levels); err != nil {
			return below(projection.Index(i), err)
		}
	}
	e.text = append(e.text, ']')
	return nil
}

// escapedAs are the characters that package json escapes, as it writes them. Others that aren't plain are left to it.
var escapedAs = [256]string{
	'"': `\"`, '\\': `\\`, '\n': `\n`, '\r': `\r`, '\t': `\t`, '<': `\u003c`, '>': `\u003e`, '&': `\u0026`,
}

func (e *Encoder) string(s string) error {
	start, done := len(e.text), 0
	e.text = append(e.text, '"')
	for i := range len(s) {
		switch c := s[i]; {
		case escapedAs[c] != "":
			e.text = append(append(e.text, s[done:i]...), escapedAs[c]...)
			done = i + 1
		case c < ' ' || c > '~':
			if !utf8.ValidString(s) {
				return errNotUTF8
			}
			e.text = e.text[:start]
			return e.other(s)
		}
	}
	e.text = append(append(e.text, s[done:]...), '"')
	return nil
}
