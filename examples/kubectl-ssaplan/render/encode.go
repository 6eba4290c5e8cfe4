package render

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"strings"

	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/projection/foreign"
)

type objectJSON struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace,omitempty"`
	Name       string `json:"name"`
}

func objectToJSON(id identity.Identity) objectJSON {
	return objectJSON{id.APIVersion, id.Kind, id.Namespace, id.Name}
}

// encode returns v as indented JSON with a newline at the end, in which what can't be seen is escaped.
func encode(v any) ([]byte, error) {
	line, err := compact(v)
	if err != nil {
		return nil, err
	}
	var indented bytes.Buffer
	if err := json.Indent(&indented, line, "", "  "); err != nil {
		return nil, err
	}
	indented.WriteByte('\n')
	return indented.Bytes(), nil
}

// compact returns v as JSON on a line, in which what can't be seen is escaped.
func compact(v any) ([]byte, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return nil, err
	}
	return []byte(foreign.VisibleJSON(strings.TrimSuffix(text.String(), "\n"))), nil
}

// Rows returns v, a struct or map, as JSON in which each of its members, and each item of those that are lists, has a line of its own. What
// can't be seen is escaped.
func Rows(v any) ([]byte, error) {
	text, err := compact(v)
	if err != nil {
		return nil, err
	}
	out := make([]byte, 0, len(text)+len(text)/100)
	depth, quoted := 0, false
	for i := 0; i < len(text); i++ {
		c := text[i]
		out = append(out, c)
		switch {
		case quoted && c == '\\':
			i++
			out = append(out, text[i])
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			if depth++; c == '[' && depth == 2 && text[i+1] != ']' {
				out = append(out, '\n')
			}
		case c == '}' || c == ']':
			depth--
		case c == ',' && depth <= 2:
			out = append(out, '\n')
		}
	}
	return append(out, '\n'), nil
}

// asYAML converts what a JSON method returned.
func asYAML(text []byte, err error) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	var v any
	if err := yaml.Unmarshal(text, &v); err != nil {
		return nil, err
	}
	return YAML(v)
}

// YAML returns v as YAML of the same value in which what can't be seen is escaped.
func YAML(v any) ([]byte, error) {
	var tree any
	text, err := json.Marshal(v)
	if err == nil {
		err = utiljson.Unmarshal(text, &tree)
	}
	if err != nil {
		return nil, err
	}
	// The library that writes YAML escapes nothing that Unicode calls printable, so a name stands in for each such text.
	names := &standIns{prefix: "visible-" + rand.Text() + "-"}
	if text, err = yaml.Marshal(names.in(tree)); err != nil {
		return nil, err
	}
	return []byte(strings.NewReplacer(names.texts...).Replace(string(text))), nil
}

// standIns are names that stand in for texts of which something can't be seen.
type standIns struct {
	prefix string
	texts  []string // a name and what stands in its place, in turns
}

// in returns v with names in the place of such texts.
func (s *standIns) in(v any) any {
	switch v := v.(type) {
	case string:
		return s.name(v)
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = s.in(item)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, value := range v {
			out[s.name(name)] = s.in(value)
		}
		return out
	}
	return v
}

func (s *standIns) name(text string) string {
	isSeen := func(line string) bool { return foreign.Visible(line) == line }
	hidden := false
	for line := range strings.SplitSeq(text, "\n") {
		hidden = hidden || !isSeen(line)
	}
	if !hidden {
		return text
	}
	quoted, _ := json.Marshal(text) // a text always has a JSON, which is a YAML, too
	name := fmt.Sprintf("%s%d-", s.prefix, len(s.texts))
	s.texts = append(s.texts, name, foreign.VisibleJSON(string(quoted)))
	return name
}
