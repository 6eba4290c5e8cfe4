package saved

import (
	"net/http"
	"regexp"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// manager is how a server prints a field manager.
//
// Source: k8s.io/apimachinery, pkg/util/managedfields/internal, printManager.
const manager = `"(?:[^"\\]|\\.)*"(?: with subresource "(?:[^"\\]|\\.)*")?(?: using \S+(?: at \S+)?)?`

var (
	conflictSentence = regexp.MustCompile(`(?s)\bApply failed with \d+ conflicts?: (conflicts? with .*)$`)
	oneConflict      = regexp.MustCompile(`^(conflict with ` + manager + `): (.+)$`)
	conflictsOfOne   = regexp.MustCompile(`^conflicts (with ` + manager + `):$`)
)

// conflictProse reads the message of a refused apply, up to what kubectl adds to it:
//
//	Apply failed with 1 conflict: conflict with "m": .data.a
//
//	Apply failed with 2 conflicts: conflicts with "m":
//	- .data.a
//	conflicts with "n" using v1:
//	- .data.b
func conflictProse(text string) (int, metav1.Status) {
	m := conflictSentence.FindStringSubmatchIndex(text)
	if m == nil {
		return -1, metav1.Status{}
	}
	causes, length := conflictCauses(text[m[2]:m[3]])
	if len(causes) == 0 {
		return -1, metav1.Status{}
	}
	return m[0], metav1.Status{
		Status: metav1.StatusFailure, Reason: metav1.StatusReasonConflict, Code: http.StatusConflict,
		Message: strings.TrimSpace(text[m[0] : m[2]+length]), Details: &metav1.StatusDetails{Causes: causes},
	}
}

// conflictCauses reads the lines that name conflicts, and returns how much of the text they take.
func conflictCauses(text string) (causes []metav1.StatusCause, length int) {
	first, _, _ := strings.Cut(text, "\n")
	if m := oneConflict.FindStringSubmatch(strings.TrimSpace(first)); m != nil {
		return []metav1.StatusCause{conflict(m[2], m[1])}, len(first)
	}
	message := ""
	for line := range strings.Lines(text) {
		path, listed := strings.CutPrefix(strings.TrimSpace(line), "- ")
		if m := conflictsOfOne.FindStringSubmatch(strings.TrimSpace(line)); m != nil {
			message = "conflict " + m[1]
		} else if listed && message != "" {
			causes = append(causes, conflict(path, message))
		} else {
			break
		}
		length += len(line)
	}
	return causes, length
}

func conflict(path, message string) metav1.StatusCause {
	return metav1.StatusCause{Type: metav1.CauseTypeFieldManagerConflict, Field: path, Message: message}
}
