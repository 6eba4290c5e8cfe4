package immutability

import (
	"bytes"
	"encoding/json"
	"errors"
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

// Verdict is [ClassifyStatus] on the saved status. A verdict that was read from prose is never replaceable. Prose that
// names a kind without its group, as kubectl's does, is taken to mean the one kind of that name with known texts.
func (s Saved) Verdict() Verdict {
	status := s.Status
	if s.Prose {
		status.Details = withGroup(status.Details)
	}
	verdict := ClassifyStatus(status)
	if s.Prose && verdict.worthAsking() {
		verdict.Uncertain = "read from an error text, which marks neither causes nor types"
	}
	return verdict
}

// ParseSaved finds an API status in data: the JSON of a Status, or of client-go's StatusError; such a JSON inside other
// text, quoted or not, as in a log of response bodies; or else the text that client-go or kubectl prints for a refused
// object, for conflicts of an apply or for missing rights, with whatever precedes it; or what they print, alone or with
// "error: " before it, for a caller that the server doesn't know. It is an error if there is none of these.
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
