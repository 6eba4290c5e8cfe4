package projection

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ssaplan/primitives/internal/plainjson"
	"github.com/ssaplan/primitives/projection/foreign"
)

// canonicalJSON renders v so that equal values have equal text: names sorted, no space, a number in one form however
// it was written or typed (80, 80.0 and json.Number("80") are one key for a server).
func canonicalJSON(v any) (string, error) {
	switch v := v.(type) {
	case string:
		if isPlainText(v) {
			return `"` + v + `"`, nil
		}
	case int64:
		return strconv.FormatInt(v, 10), nil
	case bool:
		return strconv.FormatBool(v), nil
	}
	text, err := plainjson.Marshal(v)
	if err != nil {
		return "", err
	}
	decoded, err := decodeJSON(string(text))
	if err != nil {
		return "", err
	}
	text, err = plainjson.Marshal(decoded)
	return string(text), err
}

// isPlainText reports whether s is its own JSON text between quotes.
func isPlainText(s string) bool {
	for i := range len(s) {
		if c := s[i]; c <= '\x1f' || c == '"' || c == '\\' || c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// decodeJSON decodes one JSON value with integers as int64 and other numbers as float64.
func decodeJSON(text string) (any, error) {
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, err
	}
	if strings.TrimSpace(text[dec.InputOffset():]) != "" {
		return nil, errors.New("data after the value")
	}
	return typedNumbers(v)
}

func typedNumbers(v any) (any, error) {
	var err error
	switch v := v.(type) {
	case json.Number:
		return parseNumber(v.String())
	case map[string]any:
		for name, item := range v {
			if v[name], err = typedNumbers(item); err != nil {
				return nil, err
			}
		}
	case []any:
		for i, item := range v {
			if v[i], err = typedNumbers(item); err != nil {
				return nil, err
			}
		}
	}
	return v, nil
}

// parseNumber takes for an integer what is written as one. So -0 is 0.
func parseNumber(text string) (any, error) {
	if i, err := strconv.ParseInt(text, 10, 64); err == nil {
		return i, nil
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return nil, fmt.Errorf("number %s is out of range", text)
	}
	return f, nil
}

// jsonToken returns the length of the JSON value at the start of text, in which a comma or brace follows it.
func jsonToken(text string) int {
	switch text[0] {
	case '"':
		return stringToken(text)
	case '{', '[':
		var v json.RawMessage
		_ = json.NewDecoder(strings.NewReader(text)).Decode(&v) // can't fail: text is part of JSON
		return len(v)
	}
	return strings.IndexAny(text, ",}")
}

// stringToken returns the length of the JSON string at the start of text.
func stringToken(text string) int {
	for i := 1; ; i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
}

// unquote returns the text of a JSON string.
func unquote(text string) string {
	body := text[1 : len(text)-1]
	if strings.IndexByte(body, '\\') < 0 {
		return validText(body)
	}
	if plain := strings.ReplaceAll(body, `\"`, `"`); strings.IndexByte(plain, '\\') < 0 {
		return validText(plain)
	}
	var s string
	_ = json.Unmarshal([]byte(text), &s) // can't fail: text is a JSON string
	return s
}

// validText replaces every byte of s that isn't UTF-8 by U+FFFD, as JSON encoding does.
func validText(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return string([]rune(s))
}

func sortedKeys(m map[string]any) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// plain returns v as JSON decoding would have made it, if it is of another type: an int, a map[string]string or a
// struct in a manifest that was written by hand. A value that JSON can't express stays as it is.
func plain(v any) any {
	switch v.(type) {
	case nil, string, bool, int64, float64, map[string]any, []any:
		return v
	}
	switch r := reflect.ValueOf(v); r.Kind() {
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return r.Int()
	case reflect.Float64:
		return r.Float()
	}
	text, err := plainjson.Marshal(v)
	if err != nil {
		return v
	}
	decoded, err := decodeJSON(string(text))
	if err != nil {
		return v
	}
	return decoded
}

// mapOf returns v as a map, which is nil if v is none.
func mapOf(v any) map[string]any {
	m, _ := plain(v).(map[string]any)
	return m
}

// listOf returns v as a list, which is nil if v is none.
func listOf(v any) []any {
	list, _ := plain(v).([]any)
	return list
}

// isContainer reports whether v is a map or list.
func isContainer(v any) bool {
	switch v.(type) {
	case map[string]any, []any:
		return true
	}
	return false
}

// isEmpty reports whether v is a map or list with nothing in it.
func isEmpty(v any) bool { return isContainer(v) && !isFilled(v) }

// isFilled reports whether v is a map or list with something in it.
func isFilled(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		return len(v) > 0
	case []any:
		return len(v) > 0
	}
	return false
}

// deepCopy copies maps and lists; everything else in an object is immutable.
func deepCopy(v any) any {
	switch v := plain(v).(type) {
	case map[string]any:
		if v == nil {
			return v
		}
		out := make(map[string]any, len(v))
		for name, item := range v {
			out[name] = deepCopy(item)
		}
		return out
	case []any:
		if v == nil {
			return v
		}
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = deepCopy(item)
		}
		return out
	default:
		return v
	}
}

// equal reports whether two JSON values are the same, types included: 5, "5", 5.0 and null all differ.
func equal(a, b any) bool {
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		return ok && equalMaps(a, b)
	case []any:
		b, ok := b.([]any)
		return ok && (a == nil) == (b == nil) && slices.EqualFunc(a, b, equal)
	case float64:
		b, ok := b.(float64)
		return ok && (a == b || a != a && b != b)
	case string, bool, int64, nil:
		return a == b
	}
	// JSON has no form for the value, such as a channel.
	return reflect.DeepEqual(a, b)
}

func equalMaps(a, b map[string]any) bool {
	if reflect.ValueOf(a).UnsafePointer() == reflect.ValueOf(b).UnsafePointer() {
		return true // it is one map, shared by both objects
	}
	if len(a) != len(b) || (a == nil) != (b == nil) {
		return false
	}
	for name, item := range a {
		other, exists := b[name]
		if !exists || !equal(item, other) {
			return false
		}
	}
	return true
}

// shownJSON returns v as JSON for people.
func shownJSON(v any) string {
	plain, err := plainjson.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	text := string(plain)
	if _, isFloat := v.(float64); isFloat && !strings.ContainsAny(text, ".e") {
		text += ".0" // else a change from 5.0 to 5 would look like none
	}
	return foreign.VisibleJSON(text)
}
