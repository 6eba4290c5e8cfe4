package ctrlssaplan

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// announceWrites reports everything that was written to the children, writes that failed, and new warnings of plans.
func (k *Kit) announceWrites(owner client.Object, outcomes []outcome) {
	for _, o := range outcomes {
		for _, warning := range o.warnings {
			k.options.Events.Event(owner, corev1.EventTypeWarning, "PlanWarning",
				cut(fmt.Sprintf("%s: %s", o.child, warning)))
		}
		text := cut(fmt.Sprintf("%s: %s", o.child, o.text))
		switch {
		case len(o.repaired) > 0:
			k.options.Events.Event(owner, corev1.EventTypeWarning, "DriftRepaired", text)
		case o.verdict.written():
			k.options.Events.Event(owner, corev1.EventTypeNormal, string(o.verdict), text)
		case o.unwritten:
			k.options.Events.Event(owner, corev1.EventTypeWarning, string(o.verdict), text)
		}
	}
}

// announceConditions tells of the conditions that have become bad, or bad for another reason.
func (k *Kit) announceConditions(owner client.Object, now, before []metav1.Condition) {
	for _, complaint := range complaints {
		is, was := meta.FindStatusCondition(now, complaint.condition),
			meta.FindStatusCondition(before, complaint.condition)
		news := was == nil || was.Status != is.Status || was.Message != is.Message
		if is.Status == metav1.ConditionTrue && news {
			k.options.Events.Event(owner, corev1.EventTypeWarning, is.Type, is.Message)
		}
	}
}
