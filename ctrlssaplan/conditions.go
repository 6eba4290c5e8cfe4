package ctrlssaplan

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The types of the conditions that an owner gets.
const (
	// ConditionReady: all children are as declared, and are ready.
	ConditionReady = "Ready"
	// ConditionSynced: all children are as declared.
	ConditionSynced = "Synced"
	// ConditionDrifted: others changed children, and the changes were kept. After a repair the condition is False, with
	// the reason Repaired and a message that says who had changed which field the last time.
	ConditionDrifted = "Drifted"
	// ConditionConflict: other field managers own declared fields with other values.
	ConditionConflict = "Conflict"
	// ConditionRefused: the server rejects a child, or the object belongs to another owner.
	ConditionRefused = "Refused"
	// ConditionReplacementNeeded: a child must be deleted and created again, and the policy doesn't allow that.
	ConditionReplacementNeeded = "ReplacementNeeded"
)

const (
	// asDeclaredReason is the reason of a condition that has nothing to report.
	asDeclaredReason = string(asDeclared)
	repairedReason   = "Repaired"
	// maxText is the length at which texts are cut: events can't be longer than 1 KiB.
	maxText = 1000
)

type complaint struct {
	condition string
	verdict   verdict
}

// complaints are the conditions that are True if something of the kind is in the way, with the verdicts that make them.
var complaints = []complaint{
	{ConditionDrifted, drifted},
	{ConditionConflict, conflicting},
	{ConditionRefused, refused},
	{ConditionReplacementNeeded, replacementNeeded},
}

// isKits reports whether the kit sets conditions of this type.
func isKits(condition string) bool {
	return condition == ConditionReady || condition == ConditionSynced ||
		slices.ContainsFunc(complaints, func(c complaint) bool { return c.condition == condition })
}

// nextConditions returns the conditions that say what became of the children.
func nextConditions(before []metav1.Condition, generation int64, outcomes []outcome) []metav1.Condition {
	next := slices.Clone(before)
	set := func(condition metav1.Condition) {
		condition.ObservedGeneration, condition.Message = generation, cut(condition.Message)
		meta.SetStatusCondition(&next, condition)
	}
	set(ready(outcomes))
	set(synced(outcomes))
	for _, complaint := range complaints {
		text := texts(outcomes, func(o outcome) bool { return o.verdict == complaint.verdict })
		condition := metav1.Condition{Type: complaint.condition, Status: metav1.ConditionTrue,
			Reason: string(complaint.verdict), Message: text}
		if text == "" {
			condition.Status, condition.Reason = metav1.ConditionFalse, asDeclaredReason
		}
		if complaint.condition == ConditionDrifted && text == "" {
			condition = repairs(condition, meta.FindStatusCondition(before, ConditionDrifted), outcomes)
		}
		set(condition)
	}
	return next
}

// ready returns the condition that says whether the owner does what it is for.
func ready(outcomes []outcome) metav1.Condition {
	condition := synced(outcomes)
	condition.Type = ConditionReady
	var unready []string
	for _, o := range outcomes {
		if o.unready != "" {
			unready = append(unready, o.child+": "+o.unready)
		}
	}
	if condition.Status == metav1.ConditionTrue && len(unready) > 0 {
		condition.Status, condition.Reason, condition.Message = metav1.ConditionFalse, "ChildrenNotReady",
			strings.Join(unready, "; ")
	}
	return condition
}

// synced returns the condition that sums up.
func synced(outcomes []outcome) metav1.Condition {
	condition := metav1.Condition{Type: ConditionSynced, Status: metav1.ConditionTrue, Reason: asDeclaredReason}
	for _, o := range outcomes {
		if o.verdict.open() && (condition.Status == metav1.ConditionTrue || condition.Reason == string(waiting)) {
			condition.Status, condition.Reason = metav1.ConditionFalse, string(o.verdict)
		}
	}
	condition.Message = texts(outcomes, func(o outcome) bool { return o.verdict.open() })
	return condition
}

// repairs returns the condition Drifted if nothing has drifted now: it says what was repaired, until there is other
// news.
func repairs(none metav1.Condition, before *metav1.Condition, outcomes []outcome) metav1.Condition {
	var repaired []string
	for _, o := range outcomes {
		if len(o.repaired) > 0 {
			repaired = append(repaired, o.child+": "+lines(o.repaired))
		}
	}
	switch {
	case len(repaired) > 0:
		none.Reason, none.Message = repairedReason, strings.Join(repaired, "; ")
	case before != nil && before.Reason == repairedReason:
		none.Reason, none.Message = before.Reason, before.Message
	}
	return none
}

// texts says what the chosen outcomes say, in one line.
func texts(outcomes []outcome, chosen func(outcome) bool) string {
	var out []string
	for _, o := range outcomes {
		switch {
		case !chosen(o):
		case o.child == "": // the outcome is of all children
			out = append(out, o.text)
		default:
			out = append(out, o.child+": "+o.text)
		}
	}
	return strings.Join(out, "; ")
}

// cut shortens a text to what an event and a condition hold.
func cut(text string) string {
	if len(text) <= maxText {
		return text
	}
	return strings.ToValidUTF8(text[:maxText], "") + "…"
}
