package answer

import (
	"regexp"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Phrases are details of messages without a value, in addition to those of FieldTexts. Source: the validation packages
// of k8s.io/apimachinery and of the core API group; each is the whole detail, or its beginning.
var Phrases = []string{
	"a valid config key must consist of alphanumeric characters",
	"a lowercase RFC 1123",
	"field is immutable",
	"may not change once set",
	"must be no more than",
	"must have at most",
	"name part must",
	"a valid label must be an empty string or consist of alphanumeric characters",
	"prefix part",
}

// Phrase returns the parts of a cause that can't contain a value: the label, and known words at the beginning of the
// detail. It returns "" if the cause has no known label.
func Phrase(c Cause) string {
	if c.label == "" {
		return ""
	}
	return join(c.label, knownDetail(c.detail))
}

// KnownPhrase returns the parts of a message that can't contain a value. The message must have the form of
// [Cause.Message].
func KnownPhrase(message string) string {
	for _, l := range labels {
		if message == l.text {
			return message
		}
		if detail, found := strings.CutPrefix(message, l.text+": "); found {
			return join(l.text, knownDetail(detail))
		}
	}
	return knownDetail(message)
}

// knownDetail returns the known words with which a detail begins, "" if there are none. What follows them may be a
// value.
func knownDetail(detail string) string {
	for _, t := range FieldTexts {
		if detail == t.Text || t.Prefix && strings.HasPrefix(detail, t.Text) {
			return strings.TrimRight(t.Text, "; :")
		}
	}
	for _, phrase := range Phrases {
		if strings.HasPrefix(detail, phrase) {
			return phrase
		}
	}
	return ""
}

// Source: the errors of structured-merge-diff's typed package. Each is a line of its own if there are several.
var (
	typedPatch = regexp.MustCompile(`^failed to create typed patch object \([^()]*\): (?:errors:\n)?`)
	typedError = regexp.MustCompile(
		`(?m)^\s*\.([^:\n]+): (expected (?:string|numeric|boolean|map|list)|field not declared in schema|duplicate entries for key)`)
)

// WrongType returns the field of a manifest that doesn't fit the schema, and what is wrong with it, without its value;
// "" for other statuses. Of several fields it is the first by name: a server lists them in another order each time.
func WrongType(status metav1.Status) (field, problem string) {
	head := typedPatch.FindString(status.Message)
	if head == "" {
		return "", ""
	}
	for _, found := range typedError.FindAllStringSubmatch(status.Message[len(head):], -1) {
		if field == "" || found[1] < field {
			field, problem = found[1], found[2]
		}
	}
	return field, problem
}

// Names reports whether a printed field consists of names of fields of the object. At most one position in a list may
// follow each name. Such a field can't contain a value. A required field of an owner reference is accepted even if the
// object lacks it.
func Names(obj map[string]any, field string) bool {
	if owner.MatchString(field) {
		return true
	}
	names := map[string]bool{}
	addNames(names, obj)
	positioned := true // nothing is there yet that could have a position
	for _, part := range strings.FieldsFunc(field, separates) {
		switch {
		case names[part]:
			positioned = false
		case positioned || !isPosition(part) || !strings.Contains(field, "["+part+"]"):
			return false
		default:
			positioned = true
		}
	}
	return strings.ContainsFunc(field, func(r rune) bool { return !separates(r) })
}

// owner matches what a server prints of an owner that lacks a field. Source: ValidateOwnerReferences in
// k8s.io/apimachinery/pkg/api/validation.
var owner = regexp.MustCompile(`^metadata\.ownerReferences(\[\d{1,3}\])?\.(apiVersion|kind|name|uid)$`)

func separates(r rune) bool { return strings.ContainsRune(`.[]"'()`, r) }

// isPosition reports whether a text is a number as positions are.
func isPosition(text string) bool {
	return len(text) <= 3 && strings.Trim(text, "0123456789") == ""
}

// addNames adds the parts of the names of all fields that v has.
func addNames(names map[string]bool, v any) {
	switch v := v.(type) {
	case map[string]any:
		for name, below := range v {
			for _, part := range strings.FieldsFunc(name, separates) {
				names[part] = true
			}
			addNames(names, below)
		}
	case []any:
		for _, item := range v {
			addNames(names, item)
		}
	}
}
