package answer

import (
	"regexp"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Cause is one cause of a status, taken apart. The server composes its message of a label, for most labels the value of
// the field, and a detail: "Invalid value: {"app":"b"}: field is immutable". It is comparable.
type Cause struct {
	Field   string // as the server prints it
	Type    metav1.CauseType
	message string
	label   string // "Invalid value", "" when the message has no known form
	detail  string // without the value, without a diff
}

// DistinctCauses returns the causes without repetitions: the server lists a cause up to four times.
func DistinctCauses(details *metav1.StatusDetails) []Cause {
	if details == nil {
		return nil
	}
	var distinct []Cause
	seen := map[Cause]bool{}
	for _, c := range details.Causes {
		read := readCause(c)
		if !seen[read] {
			distinct = append(distinct, read)
		}
		seen[read] = true
	}
	return distinct
}

// labels are the beginnings of messages. valued tells which of them a value may follow.
var labels = []struct {
	text   string
	valued bool
}{
	{"Invalid value", true},
	{"Unsupported value", true},
	{"Duplicate value", true},
	{"Not found", true},
	{"Too many", true},
	{"Too few", true},
	{"Required value", false},
	{"Forbidden", false},
	{"Too long", false},
	{"Too short", false},
	{"Internal error", false},
}

func readCause(c metav1.StatusCause) Cause {
	read := Cause{Field: c.Field, Type: c.Type, message: c.Message, detail: FirstLine(c.Message)}
	for _, l := range labels {
		rest, found := strings.CutPrefix(c.Message, l.text)
		if !found || rest != "" && !strings.HasPrefix(rest, ": ") {
			continue
		}
		read.label = l.text
		read.detail = strings.TrimPrefix(rest, ": ")
		if l.valued {
			read.detail = withoutValue(read.detail)
		}
		read.detail = FirstLine(read.detail)
		break
	}
	return read
}

// Message is what a user gets to see of the cause. The value is left out: it may be a secret, and the user has it in
// the manifest anyway.
func (c Cause) Message() string {
	return join(c.label, c.detail)
}

// Detail is the message without its label and without the value.
func (c Cause) Detail() string { return c.detail }

func join(label, detail string) string {
	if label == "" || detail == "" {
		return label + detail
	}
	return label + ": " + detail
}

// FirstLine returns what a text has before the first line break: a message without the diff that follows.
func FirstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

// valueStart matches the beginnings of printed values: quoted, JSON, a number, and Go syntax as servers up to 1.33
// print it. Text of another form is a detail without a value.
var valueStart = regexp.MustCompile(`^(["{[&0-9.-]|null\b|<nil>|true\b|false\b|\(\*|map\[|[A-Za-z0-9_./*]+\{)`)

// withoutValue returns what follows the value at the start of s and the separator after it. A value whose end can't be
// found takes everything with it.
func withoutValue(s string) string {
	if !valueStart.MatchString(s) {
		return s
	}
	depth := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '"':
			i = endOfQuote(s, i)
		case '{', '[', '(':
			depth++
		case '}', ']', ')':
			depth--
		case ':':
			if depth == 0 && strings.HasPrefix(s[i:], ": ") {
				return s[i+2:]
			}
		}
	}
	return ""
}

// endOfQuote returns the index of the quote that closes the one at start, or the end of s.
func endOfQuote(s string, start int) int {
	for i := start + 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			return i
		}
	}
	return len(s)
}

// brackets matches the positions and keys in a printed path.
var brackets = regexp.MustCompile(`\[[^\]]*\]`)

// Pattern is the field with every position and key replaced by [*], as [FieldTexts] has it.
func (c Cause) Pattern() string {
	if c.Field == "[]" {
		return c.Field
	}
	return brackets.ReplaceAllString(c.Field, "[*]")
}

// oddPaths are paths that a server prints in place of the real path of a field, by kind. The key "*" is for every kind.
var oddPaths = map[string]map[string]string{
	"*":                        {"<nil>": "", "[]": ""},
	"PersistentVolumeClaim":    {"spec.resources[storage]": "spec.resources.requests.storage"},
	"storage.k8s.io/CSIDriver": {"spec.attachedRequired": "spec.attachRequired"},
}

// misspelledSource matches the volume sources whose names the server prints in another way.
var misspelledSource = regexp.MustCompile(`(volumes\[\d+\]\.)(downwarAPI|cephFS)\b`)

// RealPath returns the path of the field that the server prints in this way.
func RealPath(kind, printed string) string {
	for _, k := range []string{kind, "*"} {
		if real, odd := oddPaths[k][printed]; odd {
			return real
		}
	}
	m := misspelledSource.FindStringSubmatchIndex(printed)
	if m == nil {
		return printed
	}
	real := map[string]string{"downwarAPI": "downwardAPI", "cephFS": "cephfs"}[printed[m[4]:m[5]]]
	return printed[:m[4]] + real + printed[m[5]:]
}

// SameAs reports whether the causes object to the same thing, in values of the object that may differ.
func (c Cause) SameAs(other Cause) bool {
	return c.Pattern() == other.Pattern() && c.Type == other.Type && c.label == other.label && c.detail == other.detail
}
