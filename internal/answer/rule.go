package answer

import "strings"

// How the messages of a definition's rules begin, and what stands before them.
const (
	failedRule     = "failed rule: "
	evaluatingRule = " evaluating rule: "
)

// IsOfRule reports whether the cause may be that a rule of a definition refused: one with a message, which may be
// empty, and a text. A server prints the message, and the text for want of one; where the rule couldn't be evaluated,
// it prints that before.
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
