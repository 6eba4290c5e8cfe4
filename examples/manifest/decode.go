package manifest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"unicode/utf8"

	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
	goyaml "sigs.k8s.io/yaml/goyaml.v3"
)

// decode reads one document strictly: a key that stands twice is an error. Integers are int64 as long as they fit.
// The problem that it reports shows no value of the document.
func decode(source Source, doc document) (map[string]any, []Warning, error) {
	if len(doc.text) > maxSize {
		return nil, nil, errTooLarge
	}
	if line := invalidLine(doc.text); line > 0 {
		return nil, nil, fmt.Errorf("line %d: not valid UTF-8; save the file in this encoding", doc.start+line-1)
	}
	text, warnings := doc.text, []Warning(nil)
	if !json.Valid(text) { // what is JSON already needs no YAML parser, which doesn't know all of JSON's escapes
		var err error
		if text, warnings, err = fromYAML(source, doc); err != nil {
			return nil, nil, err
		}
	}
	obj, err := fromJSON(text)
	return obj, warnings, err
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

// fromYAML returns the JSON of a document in YAML, as Kubernetes reads it.
func fromYAML(source Source, doc document) (text []byte, warnings []Warning, err error) {
	root, err := parseNodes(doc)
	if err != nil {
		return nil, nil, err
	}
	if err := checkExpanded(root); err != nil {
		return nil, nil, err
	}
	merges, err := checkKeys(root, doc.start)
	if err != nil {
		return nil, nil, err
	}
	toJSON := yaml.YAMLToJSONStrict
	if merges { // the strict parser takes a key that overrides a merged one for one that stands twice
		toJSON = yaml.YAMLToJSON
	}
	if text, err = toJSON(doc.text); err != nil {
		return nil, nil, syntaxError(err, doc.start)
	}
	return text, booleanWarnings(source, doc.start, root), nil
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
	if err == io.EOF {
		return &root, nil
	}
	return nil, syntaxErrorOf(doc)
}

func fromJSON(text []byte) (map[string]any, error) {
	var value any
	strict, err := kjson.UnmarshalStrict(text, &value)
	if err != nil {
		return nil, errUnreadable
	}
	if len(strict) > 0 { // only JSON gets here: the YAML parser has refused such keys already
		return nil, fmt.Errorf("%s; keep one of them", shortened(strict[0].Error()))
	}
	obj, ok := value.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("expected an object with apiVersion, kind and metadata, found %s", sortOf(value))
	}
	return obj, nil
}

// sortOf names the sort of a value.
func sortOf(value any) string {
	switch value.(type) {
	case nil:
		return "null"
	case []any:
		return "a list"
	case string:
		return "a text"
	case bool:
		return "true or false"
	}
	return "a number"
}
