package manifest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
	goyaml "sigs.k8s.io/yaml/goyaml.v3"
)

// decode reads one document strictly: a key that stands twice is an error. Integers are int64 as long as they fit.
// The problem that it reports shows no value of the document.
func decode(source Source, doc document) (map[string]any, []Warning, error) {
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
	toJSON := yaml.YAMLToJSONStrict
	if hasAliases(doc.text) || mayMerge(doc.text) || booleanWord.Match(doc.text) {
		var root goyaml.Node
		if goyaml.Unmarshal(doc.text, &root) == nil { // if it can't be read, the parser below says why
			if err := checkExpanded(&root); err != nil {
				return nil, nil, err
			}
			if overridesOnly(&root) {
				toJSON = yaml.YAMLToJSON
			}
			warnings = booleanWarnings(source, doc.start, &root)
		}
	}
	if text, err = toJSON(doc.text); err != nil {
		return nil, nil, syntaxError(err, doc.start)
	}
	return text, warnings, nil
}

func fromJSON(text []byte) (map[string]any, error) {
	var value any
	strict, err := kjson.UnmarshalStrict(text, &value)
	if err != nil {
		return nil, errUnreadable
	}
	if len(strict) > 0 { // only JSON gets here: the YAML parser has refused such keys already
		return nil, fmt.Errorf("%s; keep one of them", strict[0])
	}
	obj, ok := value.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("expected an object with apiVersion, kind and metadata, found %s", sortOf(value))
	}
	return obj, nil
}

var errUnreadable = errors.New("can't be read as YAML or JSON; check the syntax")

func syntaxError(err error, start int) error {
	if problem, known := SyntaxProblem(err, start); known {
		return errors.New(problem)
	}
	return errUnreadable
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

var (
	parserText   = regexp.MustCompile(`yaml: (?:line (\d+): )?(.*)`)
	duplicateKey = regexp.MustCompile(`line (\d+): key (.+) already set in map`)
	// constant matches the texts of the YAML scanner and parser. Those of later stages can quote the document.
	constant = regexp.MustCompile(`^(found|did not find|could not find) [^\n]*$|^[a-z ]+ are not allowed( in this context)?$|^exceeded max depth of \d+$`)
	// fromParser matches those whose line the parser counts from 0.
	fromParser = regexp.MustCompile(`^did not find expected (key|node content|'-' indicator|',' or '.'|<document start>)$`)
)

// inOwnWords are starts of texts that go on with a quotation, and what to say instead.
var inOwnWords = []struct{ text, problem string }{
	{"yaml: unknown anchor", "refers with * to an anchor that it doesn't define; put the text into quotes if it is none"},
	{"yaml: anchor", "has an anchor that contains itself"},
	{"yaml: invalid map key", "has a map or list as a key; keys are texts"},
	{"unsupported map key", "has null, a map or a list as a key; keys are texts"},
	{"yaml: document contains excessive aliasing", "repeats too much by its anchors and aliases; write it down without them"},
	{"yaml: cannot decode", "has a value that doesn't fit the tag in front of it"},
	{"json: unsupported value", "has a number that JSON doesn't know, such as .inf or .nan"},
}

// SyntaxProblem says without quoting the document what a YAML parser complains about, and on which line of the file.
// start is the line of the file at which the text that was parsed begins. An error that no YAML parser makes, or that
// can't be told without a quotation, is no problem that is known.
func SyntaxProblem(err error, start int) (problem string, known bool) {
	text := err.Error()
	if m := duplicateKey.FindStringSubmatch(text); m != nil {
		return fmt.Sprintf("line %d: the key %s stands twice; keep one of them", fileLine(m[1], start), m[2]), true
	}
	for _, w := range inOwnWords {
		if strings.HasPrefix(text, w.text) {
			return w.problem, true
		}
	}
	m := parserText.FindStringSubmatch(text)
	if m == nil || !constant.MatchString(m[2]) {
		return "", false
	}
	line := fileLine(m[1], start)
	if fromParser.MatchString(m[2]) && m[1] != "" {
		line++
	}
	return fmt.Sprintf("line %d: not valid YAML: %s", line, m[2]), true
}

// fileLine turns a line of a document that starts at line start into a line of the file.
func fileLine(text string, start int) int {
	line, err := strconv.Atoi(text)
	if err != nil { // the parser names no line if it is the first
		line = 1
	}
	return start + line - 1
}
