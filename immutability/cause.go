package immutability

import (
	"regexp"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// cause is one cause of a status, taken apart. The server composes its message of a label, for most labels the value of
// the field, and a detail: "Invalid value: {"app":"b"}: field is immutable".
type cause struct {
	field  string // as the server prints it
	typ    metav1.CauseType
	text   string // the message
	label  string // "Invalid value", "" when the message has no known form
	detail string // without the value, without a diff
	known  bool   // its text is in the table of phrases
	fixed  bool   // its text is that of an immutable field
}

// distinctCauses returns the causes without repetitions: the server lists a cause up to four times.
func distinctCauses(details *metav1.StatusDetails) []cause {
	if details == nil {
		return nil
	}
	var distinct []cause
	for _, c := range details.Causes {
		read := readCause(c)
		if !slices.Contains(distinct, read) {
			distinct = append(distinct, read)
		}
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

func readCause(c metav1.StatusCause) cause {
	read := cause{field: c.Field, typ: c.Type, text: c.Message, detail: firstLine(c.Message)}
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
		read.detail = firstLine(read.detail)
		break
	}
	return read
}

// message is what a user gets to see of the cause. The value is left out: it may be a secret, and the user has it in the
// manifest anyway.
func (c cause) message() string {
	return join(c.label, c.detail)
}

// knownMessage is the message of a cause whose text is known, which is exact even where the value can't be told from
// the detail.
func (c cause) knownMessage(text string) string {
	if strings.HasPrefix(c.detail, text) {
		return join(c.label, c.detail)
	}
	return join(c.label, text)
}

func join(label, detail string) string {
	if label == "" || detail == "" {
		return label + detail
	}
	return label + ": " + detail
}

func firstLine(s string) string {
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

// pattern is the field with every position and key replaced by [*], as the table of phrases has it.
func (c cause) pattern() string {
	if c.field == "[]" {
		return c.field
	}
	return brackets.ReplaceAllString(c.field, "[*]")
}

// oddPaths are the paths that the server prints, in whatever message, for fields that have another one. The key "*" is
// for every kind.
var oddPaths = map[string]map[string]string{
	"*":                        {"<nil>": "", "[]": ""},
	"PersistentVolumeClaim":    {"spec.resources[storage]": "spec.resources.requests.storage"},
	"storage.k8s.io/CSIDriver": {"spec.attachedRequired": "spec.attachRequired"},
}

// misspelledSource matches the volume sources whose names the server prints in another way.
var misspelledSource = regexp.MustCompile(`(volumes\[\d+\]\.)(downwarAPI|cephFS)\b`)

func realPath(kind, printed string) string {
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

// sameAs reports whether the causes object to the same thing, in values of the object that may differ.
func (c cause) sameAs(other cause) bool {
	return c.pattern() == other.pattern() && c.typ == other.typ && c.label == other.label && c.detail == other.detail
}
