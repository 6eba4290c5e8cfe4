package immutability

import (
	"fmt"
	"strings"

	"github.com/ssaplan/primitives/projection/foreign"
)

// Evidence is what a verdict is based on. The zero value is no evidence.
type Evidence struct {
	// Texts are the families of texts of servers that were recognised, each once, in the order of the causes, in words
	// to show: "field is immutable".
	Texts []string
	// Create is the server's answer to the dry-run create.
	Create Answer
	// Update is the server's answer to the dry-run update of the whole manifest.
	Update Answer
	// Merge is the server's answer to the dry-run update that keeps what only others have set.
	Merge Answer
	// Whole is the server's answer to the dry-run apply of all that the manifest has, see [ProbeOptions.Apply].
	Whole Answer
	// Rules are the transition rules of the definition by which a custom resource is refused, as the definition has
	// them.
	Rules []string
	// Requests is the number of requests that the probe spent.
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
	// OutcomeRefused: the server would not carry out the request for a reason that isn't in the object: rights, quota,
	// policy, a terminating namespace.
	OutcomeRefused Outcome = "refused"
	// OutcomeUnanswered: the answer doesn't tell anything: a timeout, an internal error, an object that changed
	// meanwhile.
	OutcomeUnanswered Outcome = "no answer"
)

// Answer is the server's answer to one request of the probe.
type Answer struct {
	Outcome Outcome
	// Message is the server's message for Refused and Unanswered, shortened to its first line. For Valid it says what
	// the answer was, if it wasn't plain.
	Message foreign.Text
	// Err is the whole error behind an Unanswered create; it is never nil for one.
	Err error
}

// String returns the outcome, and the message where there is one.
func (a Answer) String() string {
	if a.Message == "" {
		return string(a.Outcome)
	}
	return fmt.Sprintf("%s (%v)", a.Outcome, a.Message)
}
