package ssaplan

import (
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/util/json"
)

// appendJSON appends the JSON of v, the same that json.Marshal makes. It spares what a manifest is made of the way
// through reflection.
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
			return nil, err
		}
		if b, err = appendJSON(append(b, ':'), m[name]); err != nil {
			return nil, err
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
			return nil, err
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
			text, err := json.Marshal(s)
			return append(b[:start], text...), err
		}
	}
	return append(append(b, s[done:]...), '"'), nil
}
