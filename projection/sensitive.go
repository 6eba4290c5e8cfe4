package projection

import "github.com/ssaplan/primitives/internal/kinds"

// Sensitive returns the paths of obj whose values must not be shown: data and stringData of a Secret, and its
// annotations, since tools keep copies of Secrets there. It is empty for every other kind.
func Sensitive(obj map[string]any) FieldSet {
	if !kinds.IsSecret(obj) {
		return FieldSet{}
	}
	return secretFields
}

var secretFields = fieldSet(kinds.SensitiveFields)

// What is shown in place of sensitive values.
const (
	redacted        = "<redacted>"
	redactedChanged = "<redacted: changed>"
)
