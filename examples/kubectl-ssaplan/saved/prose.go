package saved

import (
	"cmp"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/client-go/kubernetes/scheme"
)

// The sentences in which the API server and client-go say that an object was refused.
var (
	invalidSentence = regexp.MustCompile(
		`(?s)(?:^|[\s:])([A-Za-z]+)((?:\.[a-z0-9-]+)*) ("(?:[^"\\]|\\.)*") is invalid: (.*)$`)
	forbiddenSentence = regexp.MustCompile(
		`(?s)(?:^|[\s:])([a-z]+)((?:\.[a-z0-9-]+)*)(?: ("(?:[^"\\]|\\.)*") is forbidden: | is forbidden: User "(?:[^"\\]|\\.)*" cannot ).*$`)
	webhookSentence = regexp.MustCompile(`(?s)admission webhook "[^"]*" denied the request.*$`)

	unauthorizedSentence = regexp.MustCompile(
		`^(?:[Ee]rror: )?(Unauthorized)$|You must be logged in to the server \(([^\n]+)\)`)
)

// fromProse reads the sentence that comes first in text. What an earlier one quotes is its own.
func fromProse(text string) (metav1.Status, bool) {
	first := len(text)
	var status metav1.Status
	for _, read := range []func(string) (int,
		metav1.Status){webhookProse, forbiddenProse, invalidProse, conflictProse, unauthorizedProse} {
		if at, s := read(text); at >= 0 && at < first {
			first, status = at, s
		}
	}
	if first < len(text) {
		return status, true
	}
	return serverProse(text)
}

// What kubectl prints of any other error of a server, with what it was about to do. A server that gives no reason has
// none in brackets.
var (
	serverSentence = regexp.MustCompile(
		`Error from server(?: \(([A-Za-z]+)\))?: (?:error when [a-z ]+ "(?:[^"\\]|\\.)*": )?([^\n]+)`)
	namedSentence = regexp.MustCompile(`(?:^|\s)([a-z]+)((?:\.[a-z0-9-]+)*) ("(?:[^"\\]|\\.)*")`)
)

// codes are those of the reasons that servers have.
var codes = map[metav1.StatusReason]int32{
	metav1.StatusReasonUnknown:      http.StatusInternalServerError,
	metav1.StatusReasonUnauthorized: http.StatusUnauthorized,
	metav1.StatusReasonForbidden:    http.StatusForbidden, metav1.StatusReasonNotFound: http.StatusNotFound,
	metav1.StatusReasonAlreadyExists: http.StatusConflict, metav1.StatusReasonConflict: http.StatusConflict,
	metav1.StatusReasonGone: http.StatusGone, metav1.StatusReasonInvalid: http.StatusUnprocessableEntity,
	metav1.StatusReasonServerTimeout:         http.StatusInternalServerError,
	metav1.StatusReasonTimeout:               http.StatusGatewayTimeout,
	metav1.StatusReasonTooManyRequests:       http.StatusTooManyRequests,
	metav1.StatusReasonBadRequest:            http.StatusBadRequest,
	metav1.StatusReasonMethodNotAllowed:      http.StatusMethodNotAllowed,
	metav1.StatusReasonNotAcceptable:         http.StatusNotAcceptable,
	metav1.StatusReasonRequestEntityTooLarge: http.StatusRequestEntityTooLarge,
	metav1.StatusReasonUnsupportedMediaType:  http.StatusUnsupportedMediaType,
	metav1.StatusReasonInternalError:         http.StatusInternalServerError,
	metav1.StatusReasonExpired:               http.StatusGone,
	metav1.StatusReasonServiceUnavailable:    http.StatusServiceUnavailable,
}

func serverProse(text string) (metav1.Status, bool) {
	m := serverSentence.FindStringSubmatch(text)
	if m == nil {
		return metav1.Status{}, false
	}
	reason, message := metav1.StatusReason(m[1]), strings.TrimSpace(m[2])
	status := metav1.Status{Status: metav1.StatusFailure, Reason: reason, Code: codes[reason], Message: message}
	if named := namedSentence.FindStringSubmatchIndex(message); named != nil {
		status.Details = detailsFrom(message, named)
	}
	return status, codes[reason] != 0
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

// unauthorizedProse reads what is all of the text, or kubectl's sentence; the word alone can come from any program.
func unauthorizedProse(text string) (int, metav1.Status) {
	m := unauthorizedSentence.FindStringSubmatchIndex(text)
	if m == nil {
		return -1, metav1.Status{}
	}
	message := cmp.Or(submatch(text, m, 1), submatch(text, m, 2))
	return m[0], metav1.Status{
		Status: metav1.StatusFailure, Reason: metav1.StatusReasonUnauthorized, Code: http.StatusUnauthorized,
		Message: message,
	}
}

// detailsFrom reads kind, group and name, the first three groups of the match. A list and a create have no name.
func detailsFrom(text string, m []int) *metav1.StatusDetails {
	quoted := submatch(text, m, 3)
	name, err := strconv.Unquote(quoted)
	if err != nil && quoted != "" {
		name = quoted[1 : len(quoted)-1]
	}
	return &metav1.StatusDetails{
		Kind: submatch(text, m, 1), Group: strings.TrimPrefix(submatch(text, m, 2), "."), Name: name,
	}
}

// submatch returns what the n-th group of the match matched, "" if it took no part.
func submatch(text string, m []int, n int) string {
	if m[2*n] < 0 {
		return ""
	}
	return text[m[2*n]:m[2*n+1]]
}

// withGroup returns details with the group of the kind, if they have none and there is only one that it can be. A
// Status without a group speaks of the core group; kubectl's text never has one.
func withGroup(details *metav1.StatusDetails) *metav1.StatusDetails {
	if details == nil || details.Group != "" {
		return details
	}
	completed := *details
	completed.Group = groupOf(details.Kind)
	return &completed
}

// unregistered are the groups of built-in kinds that client-go's scheme doesn't have, in its lowest supported version.
var unregistered = map[string]string{
	"CustomResourceDefinition":  "apiextensions.k8s.io",
	"PodCertificateRequest":     "certificates.k8s.io",
	"PodGroup":                  "scheduling.k8s.io",
	"ResourcePoolStatusRequest": "resource.k8s.io",
	"Workload":                  "scheduling.k8s.io",
}

// groupOf returns the group of the built-in kind of a name, "" if there are several or none. Servers have no kinds in
// the group extensions any more.
func groupOf(kind string) string {
	if group, known := unregistered[kind]; known {
		return group
	}
	groups := map[string]bool{}
	for known := range scheme.Scheme.AllKnownTypes() {
		if known.Kind == kind && known.Group != "extensions" {
			groups[known.Group] = true
		}
	}
	if len(groups) != 1 {
		return ""
	}
	return slices.Collect(maps.Keys(groups))[0]
}

// causeTypes are the labels with which messages begin, and the types of causes that they stand for. Servers that are
// newer than this client-go have two more.
var causeTypes = func() map[string]metav1.CauseType {
	types := map[string]metav1.CauseType{"Too few": "", "Too short": ""}
	for _, known := range []field.ErrorType{
		field.ErrorTypeNotFound, field.ErrorTypeRequired, field.ErrorTypeDuplicate, field.ErrorTypeInvalid,
		field.ErrorTypeNotSupported,
		field.ErrorTypeForbidden, field.ErrorTypeTooLong, field.ErrorTypeTooMany, field.ErrorTypeInternal,
	} {
		types[known.String()] = metav1.CauseType(known)
	}
	return types
}()

// proseCause matches the beginning of a cause in prose: a path, and the label of a message.
var proseCause = regexp.MustCompile(
	`^((?:<nil>|[^\s:,\[\]]|\[[^\]]*\])+): (` + strings.Join(slices.Sorted(maps.Keys(causeTypes)), "|") + `)\b`)

// bullet begins each of several causes in kubectl's text.
const bullet = "\n* "

// causesFromProse splits "path: Label: …", client-go's "[path: Label: …, path: Label: …]", or kubectl's list with
// bullets into causes.
func causesFromProse(text string) []metav1.StatusCause {
	text = strings.TrimPrefix(strings.TrimSpace(text), bullet[1:])
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
		text = strings.TrimPrefix(strings.TrimPrefix(text[end:], ", "), bullet)
	}
	return causes
}

// endOfCause returns where the first cause in text ends: before a comma or bullet, outside of all quotes and brackets,
// after which another cause begins.
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
			if next, found := strings.CutPrefix(text[i:], bullet); found && proseCause.MatchString(next) {
				return i
			}
		case ',':
			if next, found := strings.CutPrefix(text[i:], ", "); found && depth == 0 && proseCause.MatchString(next) {
				return i
			}
		}
	}
	return len(text)
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
