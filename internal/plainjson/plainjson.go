// Package plainjson writes JSON as people read it.
package plainjson

import (
	"bytes"
	"encoding/json"

	"github.com/ssaplan/primitives/projection/foreign"
)

// Visible does what [Marshal] does, and escapes what can't be seen or what a terminal acts upon.
func Visible(v any) ([]byte, error) {
	text, err := Marshal(v)
	return []byte(foreign.VisibleJSON(string(text))), err
}

// Marshal does what [json.Marshal] does, and leaves <, > and & as they are. A program that encodes the result again
// with [json.Marshal], as it does with what a MarshalJSON method returns, escapes them.
func Marshal(v any) ([]byte, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(text.Bytes(), []byte("\n")), nil
}
