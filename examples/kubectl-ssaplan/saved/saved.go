package saved

import (
	"bytes"
	"encoding/json"
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ssaplan/primitives/immutability"
)

// Error is an API error that was kept as bytes: in a file, a log, a bug report.
type Error struct {
	// Status is the API status. With Prose it is put together from the text as far as that goes.
	Status metav1.Status
	// Prose says that only the text of the error was found. client-go's text has the causes in it, but not marked as
	// such, and without their types.
	Prose bool
}

// Err returns the saved error, for functions that classify errors.
func (e Error) Err() error {
	return &apierrors.StatusError{ErrStatus: e.Status}
}

// Verdict is [immutability.ClassifyStatus] on the saved status. A verdict that was read from prose is never
// replaceable. Prose that names a kind without its group, as kubectl's does, is taken to mean the one built-in kind
// of that name.
func (e Error) Verdict() immutability.Verdict {
	status := e.Status
	if e.Prose {
		status.Details = withGroup(status.Details)
	}
	verdict := immutability.ClassifyStatus(status)
	switch {
	case !e.Prose:
	case verdict.Certainty == immutability.CertaintyUnknown, verdict.Refusal == immutability.RefusalMergeLeftover:
		verdict.Uncertain = lostTypes
	case verdict.Refusal == immutability.RefusalImmutable:
		verdict.Certainty, verdict.Uncertain = immutability.CertaintyAssumed, lostTypes
	}
	return verdict
}

// jobMarks are what the logs of jobs have beside what was printed: colours anywhere; and before a line the names of the
// job and the step, the time, the stream of GitLab and the commands of GitHub.
var jobMarks = regexp.MustCompile(`\x1b\[[0-9;]*[A-Za-z]|\r|` +
	`(?m:^(?:[^\t\n"]*\t[^\t\n"]*\t)?\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?\]? ?(?:\d\d[OE][+ ]?)?(?:##\[[a-z]+\])?)`)

const lostTypes = "read from an error text, which marks neither causes nor types"

// Parse finds an API status in data: the JSON of a Status, or of client-go's StatusError; such a JSON inside other
// text, quoted or not, as in a log of response bodies; or else the text that client-go or kubectl prints for a refused
// object, for conflicts of an apply or for missing rights, with whatever precedes it; or what they print, alone or with
// "error: " before it, for a caller that the server doesn't know; or any "Error from server". What runs jobs may have
// put times and colours before the lines. It is an error if there is none of these.
func Parse(data []byte) (Error, error) {
	data = bytes.TrimSpace(jobMarks.ReplaceAll(data, nil))
	if status, found := embedded(data, maxQuotes); found {
		return Error{Status: status}, nil
	}
	if status, found := fromProse(string(data)); found {
		return Error{Status: status, Prose: true}, nil
	}
	if len(data) == 0 {
		return Error{}, errors.New("no API status: the input is empty")
	}
	return Error{}, errors.New(
		"no API status found: neither a JSON object of kind Status, nor the text of a refused object")
}

// A Status in JSON has one of these keys: client-go drops the kind when it decodes one. In a quoted string they have
// quotes with backslashes.
var (
	tellTales = []*regexp.Regexp{
		regexp.MustCompile(`"kind"\s*:\s*"Status"`), regexp.MustCompile(`"ErrStatus"\s*:`),
		regexp.MustCompile(`"status"\s*:\s*"Failure"`),
	}
	quotedTellTales = regexp.MustCompile(`\\"kind\\"\s*:\s*\\"Status\\"|\\"status\\"\s*:\s*\\"Failure\\"`)
)

// What bounds the work on text that only looks like JSON, or like quoted JSON.
const (
	maxAttempts = 100
	maxQuotes   = 3
)

// embedded finds a JSON Status in text. It tries the beginnings of objects, the one nearest to the tell-tale key first.
func embedded(text []byte, quotes int) (metav1.Status, bool) {
	for _, tell := range tellTales {
		if at := tell.FindIndex(text); at != nil {
			if status, found := decodeBefore(text, at[0]); found {
				return status, true
			}
		}
	}
	if at := quotedTellTales.FindIndex(text); at != nil && quotes > 0 {
		for _, inner := range unquotedAround(string(text), at[0]) {
			if status, found := embedded([]byte(inner), quotes-1); found {
				return status, true
			}
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
		if isStatus(object.Status) {
			return object.Status, true
		}
	}
	return metav1.Status{}, false
}

// isStatus reports whether a JSON object is a Status, or a failed one without its kind.
func isStatus(s metav1.Status) bool {
	return s.Kind == "Status" || s.Kind == "" && s.Status == metav1.StatusFailure && (s.Code != 0 || s.Reason != "")
}

// unquotedAround unquotes the Go strings that may contain the position: a quote before it may begin one, or be in one.
func unquotedAround(text string, at int) []string {
	const most = 4
	var found []string
	start := at
	for range maxAttempts {
		start = strings.LastIndexByte(text[:start], '"')
		if start < 0 || len(found) == most {
			break
		}
		quoted, err := strconv.QuotedPrefix(text[start:])
		if err != nil || start+len(quoted) <= at {
			continue
		}
		if inner, err := strconv.Unquote(quoted); err == nil && isTold(inner) {
			found = append(found, inner)
		}
	}
	return found
}

func isTold(text string) bool {
	return slices.ContainsFunc(tellTales, func(t *regexp.Regexp) bool { return t.MatchString(text) })
}
