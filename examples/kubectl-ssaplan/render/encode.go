package render

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	utiljson "k8s.io/apimachinery/pkg/util/json"
	yaml "sigs.k8s.io/yaml/goyaml.v3"

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

// JSON returns v as indented JSON with a newline at the end, in which what can't be seen is escaped.
func JSON(v any) ([]byte, error) {
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

// Rows returns v, a struct or map, as JSON in which each of its members, and each item of those that are lists, has a
// line of its own. What can't be seen is escaped.
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
	return YAML(json.RawMessage(text))
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
	var out bytes.Buffer
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	encoder.CompactSeqIndent()
	if err := encoder.Encode(nodeOf(tree)); err != nil {
		return nil, err
	}
	// The library escapes nothing that it calls printable. In quotes, YAML has the escapes of a visible text.
	return []byte(strings.Join(visibleLines(out.String()), "\n")), nil
}

// nodeOf returns how a value of JSON is written as YAML.
func nodeOf(v any) *yaml.Node {
	var node yaml.Node
	switch v := v.(type) {
	case map[string]any:
		node.Kind = yaml.MappingNode
		for _, name := range slices.Sorted(maps.Keys(v)) {
			node.Content = append(node.Content, nodeOf(name), nodeOf(v[name]))
		}
	case []any:
		node.Kind = yaml.SequenceNode
		for _, item := range v {
			node.Content = append(node.Content, nodeOf(item))
		}
	case string:
		// The library misreads some of what it writes, such as "<<" and texts that begin with an empty line.
		err := node.Encode(v)
		if err != nil || node.Value != v || node.Tag != "!!str" || strings.Join(visibleLines(v), "\n") != v {
			node = yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: v, Style: yaml.DoubleQuotedStyle}
		}
	default:
		_ = node.Encode(v) // a number, a boolean or null
	}
	return &node
}

// visibleLines returns the lines of a text, in which what can't be seen is escaped.
func visibleLines(text string) (lines []string) {
	for line := range strings.SplitSeq(text, "\n") {
		lines = append(lines, foreign.Visible(line))
	}
	return lines
}
