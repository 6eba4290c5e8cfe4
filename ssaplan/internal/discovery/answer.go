package discovery

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"

	"github.com/ssaplan/primitives/authresilience"
)

// deepestAnswer is how many levels of maps and lists the JSON of an answer may have. The time to list the paths of an
// object grows with the square of its levels. Objects that people write have some twenty levels; a server reads up to
// 10,000.
const deepestAnswer = 2_000

// Decode has client-go decode an answer.
func Decode(result rest.Result, into runtime.Object) error {
	if _, err := BodyOf(result); err != nil {
		return err
	}
	return result.Into(into)
}

// BodyOf returns what a request was answered with, unless it is too deep.
func BodyOf(result rest.Result) ([]byte, error) {
	body, err := result.Raw()
	if err != nil {
		return nil, result.Error() // with what the server says of it
	}
	return body, checkDepth(body)
}

// checkDepth returns an error for JSON that is deeper than any answer of a Kubernetes API server.
func checkDepth(text []byte) error {
	if isDeeper(text, deepestAnswer) {
		return &authresilience.BrokenOffError{Err: fmt.Errorf("the answer has more than %d levels", deepestAnswer)}
	}
	return nil
}

// isDeeper reports whether JSON has more than some levels.
func isDeeper(text []byte, most int) bool {
	depth, inString := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case inString:
		case c == '{' || c == '[':
			if depth++; depth > most {
				return true
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return false
}
