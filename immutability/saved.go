package immutability

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"regexp"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Saved is an API error that was kept as bytes: in a file, a log, a bug report.
type Saved struct {
	// Status is the API status. With Prose it is put together from the text as far as that goes.
	Status metav1.Status
	// Prose says that only the text of the error was found. client-go's text has the causes in it, but not marked as such,
	// and without their types.
	Prose bool
}

// Err returns the saved error, for functions that classify errors.
func (s Saved) Err() error {
	return &apierrors.StatusError{ErrStatus: s.Status}
}

// Verdict is [ClassifyStatus] on the saved status. A verdict that was read from prose is never replaceable.
func (s Saved) Verdict() Verdict {
	verdict := ClassifyStatus(s.Status)
	if s.Prose && verdict.worthAsking() {
		verdict.Uncertain = "read from an error text, which marks neither causes nor types"
	}
	return verdict
}

// ParseSaved finds an API status in data: the JSON of a Status, or of client-go's StatusError; such a JSON inside other
// text, quoted or not, as in a log of response bodies; or else the text that client-go prints for a refused object, with
// whatever precedes it. It is an error if there is none of these.
func ParseSaved(data []byte) (Saved, error) {
	data = bytes.TrimSpace(data)
	if status, found := embedded(data); found {
		return Saved{Status: status}, nil
	}
	if status, found := fromProse(string(data)); found {
		return Saved{Status: status, Prose: true}, nil
	}
	if len(data) == 0 {
		return Saved{}, errors.New("immutability: no API status: the input is empty")
	}
	return Saved{}, errors.New("immutability: no API status found: neither a JSON object of kind Status, nor the text of a refused object")
}

// A Status in JSON has this key, and in a quoted string it has quotes with backslashes.
var (
	statusKind       = regexp.MustCompile(`"kind"\s*:\s*"Status"`)
	quotedStatusKind = regexp.MustCompile(`\\"kind\\"\s*:\s*\\"Status\\"`)
	statusError      = regexp.MustCompile(`"ErrStatus"\s*:`)
)

// maxAttempts bounds the work on text that only looks like JSON.
const maxAttempts = 100

// embedded finds a JSON Status in text. It tries the beginnings of objects, the one nearest to the tell-tale key first.
func embedded(text []byte) (metav1.Status, bool) {
	for _, tell := range []*regexp.Regexp{statusKind, statusError} {
		if at := tell.FindIndex(text); at != nil {
			if status, found := decodeBefore(text, at[0]); found {
				return status, true
			}
		}
	}
	if at := quotedStatusKind.FindIndex(text); at != nil {
		if inner, found := unquoteBefore(string(text), at[0]); found {
			return embedded([]byte(inner))
		}
	}
	return metav1.Status{}, false
}

func decodeBefore(text []byte, end int) (metav1.Status, bool) {
	for range maxAttempts {
		end = bytes.LastIndexByte(text[:end], '{')
		if end < 0 {
			break
		}
		var object struct {
			metav1.Status
			ErrStatus *metav1.Status
		}
		if json.NewDecoder(bytes.NewReader(text[end:])).Decode(&object) != nil {
			continue
		}
		if object.ErrStatus != nil {
			return *object.ErrStatus, true
		}
		if object.Kind == "Status" {
			return object.Status, true
		}
	}
	return metav1.Status{}, false
}

// unquoteBefore unquotes the Go string that contains the position.
func unquoteBefore(text string, at int) (string, bool) {
	start := at
	for range maxAttempts {
		start = strings.LastIndexByte(text[:start], '"')
		if start < 0 {
			break
		}
		quoted, err := strconv.QuotedPrefix(text[start:])
		if err != nil || start+len(quoted) <= at {
			continue
		}
		if inner, err := strconv.Unquote(quoted); err == nil && statusKind.MatchString(inner) {
			return inner, true
		}
	}
	return "", false
}

// The sentences in which the API server and client-go say that an object was refused.
var (
	invalidSentence   = regexp.MustCompile(`(?s)(?:^|[\s:])([A-Za-z]+)((?:\.[a-z0-9-]+)*) ("(?:[^"\\]|\\.)*") is invalid: (.*)$`)
	forbiddenSentence = regexp.MustCompile(`(?s)(?:^|[\s:])([a-z]+)((?:\.[a-z0-9-]+)*) ("(?:[^"\\]|\\.)*") is forbidden: .*$`)
	webhookSentence   = regexp.MustCompile(`(?s)admission webhook "[^"]*" denied the request.*$`)
)

// fromProse reads the sentence that comes first in text. What an earlier one quotes is its own.
func fromProse(text string) (metav1.Status, bool) {
	first := len(text)
	var status metav1.Status
	for _, read := range []func(string) (int, metav1.Status){webhookProse, forbiddenProse, invalidProse} {
		if at, s := read(text); at >= 0 && at < first {
			first, status = at, s
		}
	}
	return status, first < len(text)
}

func webhookProse(text string) (int, metav1.Status) {
	at := webhookSentence.FindStringIndex(text)
	if at == nil {
		return -1, metav1.Status{}
	}
	return at[0], metav1.Status{Status: metav1.StatusFailure, Message: text[at[0]:]}
}

func forbiddenProse(text string) (int, metav1.Status) {
	m := forbiddenSentence.FindStringSubmatchIndex(text)
	if m == nil {
		return -1, metav1.Status{}
	}
	return m[2], metav1.Status{
		Status: metav1.StatusFailure, Reason: metav1.StatusReasonForbidden, Code: http.StatusForbidden,
		Message: text[m[2]:], Details: detailsFrom(text, m),
	}
}

func invalidProse(text string) (int, metav1.Status) {
	m := invalidSentence.FindStringSubmatchIndex(text)
	if m == nil {
		return -1, metav1.Status{}
	}
	details := detailsFrom(text, m)
	details.Causes = causesFromProse(text[m[8]:m[9]])
	return m[2], metav1.Status{
		Status: metav1.StatusFailure, Reason: metav1.StatusReasonInvalid, Code: http.StatusUnprocessableEntity,
		Message: text[m[2]:], Details: details,
	}
}

// detailsFrom reads kind, group and name, the first three groups of the match.
func detailsFrom(text string, m []int) *metav1.StatusDetails {
	name, err := strconv.Unquote(text[m[6]:m[7]])
	if err != nil {
		name = text[m[6]+1 : m[7]-1]
	}
	return &metav1.StatusDetails{
		Kind: text[m[2]:m[3]], Group: strings.TrimPrefix(text[m[4]:m[5]], "."), Name: name,
	}
}

// proseCause matches the beginning of a cause in prose: a path, and the label of a message.
var proseCause = regexp.MustCompile(`^((?:<nil>|[^\s:,\[\]]|\[[^\]]*\])+): (Invalid value|Unsupported value|Duplicate value|Not found|Too many|Too few|Required value|Forbidden|Too long|Too short|Internal error)\b`)

var causeTypes = map[string]metav1.CauseType{
	"Invalid value":     metav1.CauseTypeFieldValueInvalid,
	"Unsupported value": metav1.CauseTypeFieldValueNotSupported,
	"Duplicate value":   metav1.CauseTypeFieldValueDuplicate,
	"Not found":         metav1.CauseTypeFieldValueNotFound,
	"Required value":    metav1.CauseTypeFieldValueRequired,
	"Forbidden":         metav1.CauseTypeForbidden,
	"Too long":          metav1.CauseTypeTooLong,
	"Too many":          metav1.CauseTypeTooMany,
	"Internal error":    metav1.CauseTypeInternal,
}

// causesFromProse splits "path: Label: …" or "[path: Label: …, path: Label: …]" into causes.
func causesFromProse(text string) []metav1.StatusCause {
	text = strings.TrimSpace(text)
	if inner, many := strings.CutPrefix(text, "["); many {
		text = strings.TrimSuffix(inner, "]")
	}
	var causes []metav1.StatusCause
	for text != "" {
		m := proseCause.FindStringSubmatch(text)
		if m == nil {
			return causes
		}
		end := endOfCause(text)
		message := text[len(m[1])+len(": ") : end]
		causes = append(causes, metav1.StatusCause{Type: causeTypes[m[2]], Field: m[1], Message: message})
		text = strings.TrimPrefix(text[end:], ", ")
	}
	return causes
}

// endOfCause returns where the first cause in text ends: before a comma, outside of all quotes and brackets, after which
// another cause begins.
func endOfCause(text string) int {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			i = endOfQuote(text, i)
		case '{', '[', '(':
			depth++
		case '}', ']', ')':
			depth--
		case '\n': // of a diff, which opens more brackets than it closes
			depth = 0
		case ',':
			if depth == 0 && strings.HasPrefix(text[i:], ", ") && proseCause.MatchString(text[i+2:]) {
				return i
			}
		}
	}
	return len(text)
}
