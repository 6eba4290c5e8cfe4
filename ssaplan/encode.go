package ssaplan

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

// errNotPlain is what a value is that is null or of a type that JSON decoding doesn't make.
var errNotPlain = errors.New("the value isn't plain")

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
	if errors.Is(err, errTooDeep) || errors.Is(err, errNotPlain) {
		return err // where doesn't matter
	}
	if inner := (*fieldError)(nil); errors.As(err, &inner) {
		inner.from = append(inner.from, name)
		return inner
	}
	return &fieldError{[]projection.Element{name}, err}
}

// encode returns the JSON of an object, the same that json.Marshal makes. It spares what a manifest is made of the way
// through reflection. Text that isn't UTF-8 is an error. Errors name the field.
func encode(object map[string]any) ([]byte, error) {
	e := newEncoder()
	defer e.release()
	if err := e.encode(object); err != nil {
		return nil, err
	}
	return bytes.Clone(e.text), nil
}

// encoder makes JSON in memory that is used again.
type encoder struct {
	text      []byte
	plainOnly bool
}

// encoders have room that texts grew in, which is still in the processor's caches for the next one.
var encoders = sync.Pool{New: func() any { return &encoder{} }}

func newEncoder() *encoder { return encoders.Get().(*encoder) }

// release ends the use of the encoder and of its text.
func (e *encoder) release() { encoders.Put(e) }

// encode makes the text that of an object, see the function of that name.
func (e *encoder) encode(object map[string]any) error { return e.start(object, false) }

// encodePlain is encode for an object that has nothing for [projection.Normalize] to do in its values. For others the
// error is errNotPlain.
func (e *encoder) encodePlain(object map[string]any) error { return e.start(object, true) }

func (e *encoder) start(object map[string]any, plainOnly bool) error {
	e.text, e.plainOnly = e.text[:0], plainOnly
	return e.value(object, deepestSent)
}

// value adds v, which may have so many levels of maps and lists.
func (e *encoder) value(v any, levels int) error {
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
		return errNotPlain
	}
	return e.other(v)
}

func (e *encoder) other(v any) error {
	text, err := json.Marshal(v)
	if err == nil && !isUTF8(reflect.ValueOf(v)) {
		err = errNotUTF8
	}
	e.text = append(e.text, text...)
	return err
}

// isUTF8 reports whether all text of maps and lists is, of whatever type they are. They must not contain themselves.
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

func (e *encoder) fields(m map[string]any, levels int) error {
	if levels < 0 {
		return errTooDeep
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

func (e *encoder) items(list []any, levels int) error {
	if levels < 0 {
		return errTooDeep
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

func (e *encoder) string(s string) error {
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
