package manifest

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	goyaml "sigs.k8s.io/yaml/goyaml.v2"
)

// syntaxErrorOf says what is wrong with a document that can't be parsed. The second version of the parser knows the
// line where the third names the one at which the map or list begins.
func syntaxErrorOf(doc document) error {
	decoder := goyaml.NewDecoder(bytes.NewReader(doc.text))
	for {
		if err := decoder.Decode(new(ignored)); err != nil {
			return syntaxError(err, doc.start)
		}
	}
}

// ignored is parsed, and nothing is made of it.
type ignored struct{}

func (*ignored) UnmarshalYAML(func(any) error) error { return nil }

var errUnreadable = errors.New("can't be read as YAML or JSON; check the syntax")

func syntaxError(err error, start int) error {
	if problem, known := SyntaxProblem(err, start); known {
		return errors.New(problem)
	}
	return errUnreadable
}

var (
	parserText   = regexp.MustCompile(`yaml: (?:line (\d+): )?(.*)`)
	duplicateKey = regexp.MustCompile(`line (\d+): key (.+) already set in map`)
	// constant matches the texts of the YAML scanner and parser. Those of later stages can quote the document.
	constant = regexp.MustCompile(
		`^(found|did not find|could not find) [^\n]*$|^[a-z ]+ are not allowed( in this context)?$|^exceeded max depth of \d+$`)
	// fromParser matches those whose line the parser counts from 0.
	fromParser = regexp.MustCompile(
		`^did not find expected (key|node content|'-' indicator|',' or '.'|<document start>)$`)
)

// inOwnWords are starts of texts that go on with a quotation, and what to say instead.
var inOwnWords = []struct{ text, problem string }{
	{"yaml: unknown anchor",
		"refers with * to an anchor that it doesn't define; put the value into quotes if it is no alias"},
	{"yaml: anchor", "has an anchor that contains itself"},
	{"yaml: invalid map key", "has a map or list as a key; keys are strings"},
	{"unsupported map key", "has null, a map or a list as a key; keys are strings"},
	{"yaml: document contains excessive aliasing",
		"repeats too much by its anchors and aliases; write it down without them"},
	{"yaml: cannot decode", "has a value that doesn't fit the tag in front of it"},
	{"json: unsupported value", "has a number that JSON doesn't know, such as .inf or .nan"},
}

// SyntaxProblem describes the error of a YAML parser, with the line in the file, without quoting the document. start is
// the line of the file at which the parsed text begins. known is false if err isn't from a YAML parser, or can't be
// described without a quotation.
func SyntaxProblem(err error, start int) (problem string, known bool) {
	text := err.Error()
	if m := duplicateKey.FindStringSubmatch(text); m != nil {
		return fmt.Sprintf("line %d: the key %s appears twice; keep one of them", fileLine(m[1], start), m[2]), true
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
