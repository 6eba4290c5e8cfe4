package manifest

import (
	"bytes"
	stdjson "encoding/json"
	"fmt"
	"io"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"
	goyaml "sigs.k8s.io/yaml/goyaml.v3"
)

// entry is a value, and how it is written.
type entry struct {
	value any
	node  *goyaml.Node // nil if that isn't known, as of what a merge key brought
	start int          // the line of the file at which the text begins whose lines node counts
}

// decode reads one document strictly: a key that appears twice is an error. Integers are int64 as long as they fit.
// The problem that it reports shows no value of the document.
func decode(doc document) (entry, error) {
	if len(doc.text) > maxSize {
		return entry{}, errTooLarge
	}
	if line := invalidLine(doc.text); line > 0 {
		return entry{}, fmt.Errorf("line %d: not valid UTF-8; save the file in this encoding", doc.start+line-1)
	}
	text, root, err := toJSON(doc)
	if err != nil {
		return entry{}, err
	}
	var value any
	if json.Unmarshal(text, &value) != nil {
		return entry{}, errUnreadable
	}
	return entry{value, root, doc.start}, nil
}

// toJSON returns a document as JSON, and as it is written.
func toJSON(doc document) (text []byte, root *goyaml.Node, err error) {
	if stdjson.Valid(doc.text) { // what is JSON already needs no YAML parser, which doesn't know all of JSON's escapes
		root = jsonNodes(doc.text)
		_, err = checkKeys(root, doc.start)
		return doc.text, root, err
	}
	if root, err = parseNodes(doc); err != nil {
		return nil, nil, err
	}
	if err = checkExpanded(root); err != nil {
		return nil, nil, err
	}
	merges, err := checkKeys(root, doc.start)
	if err != nil {
		return nil, nil, err
	}
	convert := yaml.YAMLToJSONStrict
	if merges { // the strict parser takes a key that overrides a merged one for one that appears twice
		convert = yaml.YAMLToJSON
	}
	if text, err = convert(doc.text); err != nil {
		return nil, nil, syntaxError(err, doc.start)
	}
	return text, root, nil
}

// invalidLine returns the number, from 1, of the first line that isn't UTF-8; 0 if there is none.
func invalidLine(text []byte) int {
	number := 0
	for line := range bytes.Lines(text) {
		number++
		if !utf8.Valid(line) {
			return number
		}
	}
	return 0
}

// parseNodes returns a document as it is written, with its aliases as such. It reads to the end of the text: the parser
// that makes JSON of it would ignore what follows.
func parseNodes(doc document) (*goyaml.Node, error) {
	var root goyaml.Node
	decoder := goyaml.NewDecoder(bytes.NewReader(doc.text))
	err := decoder.Decode(&root)
	if err == nil {
		err = decoder.Decode(new(goyaml.Node))
	}
	switch {
	case err != io.EOF:
		return nil, syntaxErrorOf(doc)
	case len(root.Content) == 0: // comments
		return &root, nil
	}
	return root.Content[0], nil
}
