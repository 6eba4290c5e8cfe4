package answer

import "strings"

// failedRule begins the message of a rule of a CRD. evaluatingRule comes before the message if the rule couldn't be
// evaluated.
const (
	failedRule     = "failed rule: "
	evaluatingRule = " evaluating rule: "
)

// IsOfRule reports whether the cause may be the refusal of a rule of a CRD. The parameters are the message of the rule,
// which may be empty, and its text. A server prints the message, or the text if the rule has no message. If the rule
// couldn't be evaluated, the server prints the reason first.
//
//	failed rule: self == oldSelf
//	no such key: a evaluating rule: a is immutable
//
// Source: k8s.io/apiextensions-apiserver, pkg/apiserver/schema/cel, validation.go.
func (c Cause) IsOfRule(message, rule string) bool {
	printed := c.detail
	if _, after, failed := strings.Cut(printed, evaluatingRule); failed {
		printed = after
	}
	return message != "" && printed == message || printed == failedRule+rule
}
