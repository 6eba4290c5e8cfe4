package manifest

import (
	"bytes"
	"encoding/json"

	goyaml "sigs.k8s.io/yaml/goyaml.v3"
)

// jsonNodes returns how valid JSON is written, as the YAML parser would: with the keys that stand twice, and with
// lines.
func jsonNodes(text []byte) *goyaml.Node {
	r := &jsonReader{Decoder: json.NewDecoder(bytes.NewReader(text)), text: text, line: 1}
	r.UseNumber()
	return r.node()
}

// jsonReader reads one token after the other.
type jsonReader struct {
	*json.Decoder
	text []byte
	read int // the length of the text whose lines are counted
	line int // the line at which that text ends
}

// node returns the next value. Scalars have no more of theirs than keys need.
func (r *jsonReader) node() *goyaml.Node {
	token, _ := r.Token() // valid JSON has one
	end := int(r.InputOffset())
	r.line += bytes.Count(r.text[r.read:end], []byte("\n"))
	r.read = end
	n := &goyaml.Node{Kind: goyaml.ScalarNode, Style: goyaml.DoubleQuotedStyle, Tag: "!!str", Line: r.line}
	switch token {
	case json.Delim('{'):
		r.children(n, goyaml.MappingNode)
	case json.Delim('['):
		r.children(n, goyaml.SequenceNode)
	default:
		n.Value, _ = token.(string)
	}
	return n
}

func (r *jsonReader) children(n *goyaml.Node, kind goyaml.Kind) {
	n.Kind = kind
	for r.More() {
		n.Content = append(n.Content, r.node())
	}
	r.Token() // the end of it
}
