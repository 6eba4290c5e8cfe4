package immutability

import (
	"fmt"
	"strings"

	"github.com/ssaplan/primitives/projection/foreign"
)

// Evidence is what a verdict is based on. The zero value is no evidence.
type Evidence struct {
	// Texts are the kinds of server messages that were recognised, as texts to print, such as "field is immutable".
	// Each is listed once, in the order of the causes.
	Texts []string
	// Create is the server's answer to the dry-run create.
	Create Answer
	// Update is the server's answer to the dry-run update of the whole manifest.
	Update Answer
	// Merge is the server's answer to the dry-run update that keeps the fields which only others have set.
	Merge Answer
	// Whole is the server's answer to the dry-run apply of the whole manifest; see [ProbeOptions.Apply].
	Whole Answer
	// Rules are the transition rules that rejected a custom resource, as written in the CRD.
	Rules []string
	// Requests is the number of requests that the probe sent.
	Requests int
}

// String returns the evidence as one line: "texts: field is immutable; dry-run create: valid". It is "none" when there
// is none.
func (e Evidence) String() string {
	var parts []string
	if len(e.Texts) > 0 {
		parts = append(parts, "texts: "+strings.Join(e.Texts, ", "))
	}
	if e.Create.Outcome != OutcomeNotAsked {
		parts = append(parts, fmt.Sprintf("dry-run create: %s", e.Create))
	}
	if e.Update.Outcome != OutcomeNotAsked {
		parts = append(parts, fmt.Sprintf("dry-run update: %s", e.Update))
	}
	if e.Merge.Outcome != OutcomeNotAsked {
		parts = append(parts, fmt.Sprintf("dry-run update that keeps what others set: %s", e.Merge))
	}
	if e.Whole.Outcome != OutcomeNotAsked {
		parts = append(parts, fmt.Sprintf("dry-run apply of the whole manifest: %s", e.Whole))
	}
	if len(e.Rules) > 0 {
		parts = append(parts, "rules: "+strings.Join(e.Rules, ", "))
	}
	if len(parts) == 0 {
		return "none"
	}
	return strings.Join(parts, "; ")
}

// Outcome is how the server answered one request of the probe.
type Outcome string

// The outcomes. The zero value is NotAsked.
const (
	// OutcomeNotAsked: the request was not sent.
	OutcomeNotAsked Outcome = ""
	// OutcomeValid: the server would accept the manifest.
	OutcomeValid Outcome = "valid"
	// OutcomeInvalid: the server calls the manifest invalid.
	OutcomeInvalid Outcome = "invalid"
	// OutcomeRefused: the server rejects the request for a reason outside of the object: RBAC, quota, policy, a
	// terminating namespace.
	OutcomeRefused Outcome = "refused"
	// OutcomeUnanswered: the answer proves nothing: a timeout, an internal error, an object that changed meanwhile.
	OutcomeUnanswered Outcome = "no answer"
)

// Answer is the server's answer to one request of the probe.
type Answer struct {
	Outcome Outcome
	// Message is the first line of the server's message for Refused and Unanswered. For Valid it is empty, or says
	// which unusual answer showed that the manifest is valid.
	Message foreign.Text
	// Err is the whole error of a create with [OutcomeUnanswered]. It is nil in every other answer.
	Err error
}

// String returns the outcome, and the message if there is one.
func (a Answer) String() string {
	if a.Message == "" {
		return string(a.Outcome)
	}
	return fmt.Sprintf("%s (%v)", a.Outcome, a.Message)
}
