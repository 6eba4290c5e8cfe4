package replay

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A Field is a field of a file of recorded answers.
type Field struct {
	Name  string
	Value any
}

// width is how long the lines of a file may be.
const width = 160

// Format returns JSON in which each value that fits is in one line. A list of [Field] is an object whose fields keep
// their order.
func Format(v any) string {
	var b strings.Builder
	write(&b, v, "")
	return b.String() + "\n"
}

func write(b *strings.Builder, v any, indent string) {
	text := inOneLine(v)
	below := indent + " "
	switch v := v.(type) {
	case []Field:
		writeItems(b, "{}", v, below, func(f Field) { fmt.Fprintf(b, "%q: ", f.Name); write(b, f.Value, below) })
		return
	case map[string]any:
		if len(indent)+len(text) > width {
			writeItems(b, "{}", slices.Sorted(maps.Keys(v)), below, func(name string) {
				b.WriteString(inOneLine(name) + ": ")
				write(b, v[name], below)
			})
			return
		}
	case []any:
		if len(indent)+len(text) > width {
			writeItems(b, "[]", v, below, func(item any) { write(b, item, below) })
			return
		}
	}
	b.WriteString(text)
}

// writeItems writes each item to a line of its own, between brackets.
func writeItems[T any](b *strings.Builder, brackets string, items []T, indent string, item func(T)) {
	separator := brackets[:1]
	for _, it := range items {
		b.WriteString(separator + "\n" + indent)
		item(it)
		separator = ","
	}
	b.WriteString("\n" + indent[1:] + brackets[1:])
}

// inOneLine returns the JSON of v, with spaces between its parts.
func inOneLine(v any) string {
	var parts []string
	switch v := v.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			parts = append(parts, inOneLine(name)+": "+inOneLine(v[name]))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case []any:
		for _, item := range v {
			parts = append(parts, inOneLine(item))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return fmt.Sprint(v) // there is nothing in an answer that has no JSON
	}
	return strings.TrimSpace(b.String())
}
