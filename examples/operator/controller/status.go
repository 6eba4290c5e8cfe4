package controller

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ssaplan/primitives/examples/operator/api/v1alpha1"
)

const (
	// asDeclaredReason is the reason of a condition that has nothing to report.
	asDeclaredReason = string(asDeclared)
	repairedReason   = "Repaired"
	// maxText is the length at which texts are cut: events can't be longer than 1 KiB.
	maxText = 1000
	// statusAttempts is how often a status is written anew because the Website changed meanwhile.
	statusAttempts = 3
)

// complaints are the conditions that are True if something of the kind is in the way, with the verdicts that make them.
var complaints = []struct {
	condition string
	verdict   verdict
}{
	{v1alpha1.Drifted, drifted},
	{v1alpha1.Conflict, conflicting},
	{v1alpha1.Refused, refused},
	{v1alpha1.ReplacementNeeded, replacementNeeded},
}

// report writes the status if that changes it, and events for what was written and for what is newly in the way. What
// the informer has of the Website may be old; then the server refuses the write, and the Website is read again.
func (r *Reconciler) report(ctx context.Context, website *v1alpha1.Website, outcomes []outcome) error {
	r.announceWrites(website, outcomes)
	generation := website.Generation
	for attempt := 1; ; attempt++ {
		before := website.Status
		website.Status = nextStatus(before, generation, outcomes)
		if equality.Semantic.DeepEqual(before, website.Status) {
			return nil
		}
		err := r.status.Update(ctx, website)
		if err == nil {
			r.announceConditions(website, before.Conditions)
			return nil
		}
		if !apierrors.IsConflict(err) || attempt == statusAttempts {
			return client.IgnoreNotFound(err)
		}
		if err := r.server.Get(ctx, client.ObjectKeyFromObject(website), website); err != nil {
			return client.IgnoreNotFound(err)
		}
	}
}

// nextStatus returns the status that says what became of the children.
func nextStatus(status v1alpha1.WebsiteStatus, generation int64, outcomes []outcome) v1alpha1.WebsiteStatus {
	next := v1alpha1.WebsiteStatus{ObservedGeneration: generation, Conditions: append([]metav1.Condition(nil), status.Conditions...)}
	set := func(condition metav1.Condition) {
		condition.ObservedGeneration, condition.Message = generation, cut(condition.Message)
		meta.SetStatusCondition(&next.Conditions, condition)
	}
	set(synced(outcomes))
	for _, complaint := range complaints {
		text := texts(outcomes, func(o outcome) bool { return o.verdict == complaint.verdict })
		condition := metav1.Condition{Type: complaint.condition, Status: metav1.ConditionTrue, Reason: string(complaint.verdict), Message: text}
		if text == "" {
			condition.Status, condition.Reason = metav1.ConditionFalse, asDeclaredReason
		}
		if complaint.condition == v1alpha1.Drifted && text == "" {
			condition = repairs(condition, meta.FindStatusCondition(status.Conditions, v1alpha1.Drifted), outcomes)
		}
		set(condition)
	}
	return next
}

// synced returns the condition that sums up.
func synced(outcomes []outcome) metav1.Condition {
	condition := metav1.Condition{Type: v1alpha1.Synced, Status: metav1.ConditionTrue, Reason: asDeclaredReason}
	for _, o := range outcomes {
		if o.verdict.open() && (condition.Status == metav1.ConditionTrue || condition.Reason == string(waiting)) {
			condition.Status, condition.Reason = metav1.ConditionFalse, string(o.verdict)
		}
	}
	condition.Message = texts(outcomes, func(o outcome) bool { return o.verdict.open() })
	return condition
}

// repairs returns the condition Drifted if nothing has drifted now: it says what was repaired, until there is other news.
func repairs(none metav1.Condition, before *metav1.Condition, outcomes []outcome) metav1.Condition {
	var repaired []string
	for _, o := range outcomes {
		if len(o.repaired) > 0 {
			repaired = append(repaired, o.kind.Kind+": "+lines(o.repaired))
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
		if chosen(o) {
			out = append(out, o.kind.Kind+": "+o.text)
		}
	}
	return strings.Join(out, "; ")
}

// announceWrites tells of everything that was written to the children, and of writes that failed.
func (r *Reconciler) announceWrites(website *v1alpha1.Website, outcomes []outcome) {
	for _, o := range outcomes {
		text := cut(fmt.Sprintf("%s: %s", o.kind.Kind, o.text))
		switch {
		case len(o.repaired) > 0:
			r.events.Event(website, corev1.EventTypeWarning, "DriftRepaired", text)
		case o.verdict.written():
			r.events.Event(website, corev1.EventTypeNormal, string(o.verdict), text)
		case o.unwritten:
			r.events.Event(website, corev1.EventTypeWarning, string(o.verdict), text)
		}
	}
}

// announceConditions tells of the conditions that have become bad, or bad for another reason.
func (r *Reconciler) announceConditions(website *v1alpha1.Website, before []metav1.Condition) {
	for _, complaint := range complaints {
		now, old := meta.FindStatusCondition(website.Status.Conditions, complaint.condition), meta.FindStatusCondition(before, complaint.condition)
		news := old == nil || old.Status != now.Status || old.Message != now.Message
		if now.Status == metav1.ConditionTrue && news {
			r.events.Event(website, corev1.EventTypeWarning, now.Type, now.Message)
		}
	}
}

// cut shortens a text to what an event and a condition hold.
func cut(text string) string {
	if len(text) <= maxText {
		return text
	}
	return strings.ToValidUTF8(text[:maxText], "") + "…"
}
