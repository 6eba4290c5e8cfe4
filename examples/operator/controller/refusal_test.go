package controller_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ssaplan/primitives/examples/operator/api/v1alpha1"
)

// The Service selects by the labels of the Deployment also while the Deployment can't have others.
func TestReplacementNeedsPermission(t *testing.T) {
	w := newWorld(t)
	o := w.operate()
	a := o.website("a")
	o.settle(a)
	old := o.child(a, "Deployment")

	o.edit(a, func(spec *v1alpha1.WebsiteSpec) { spec.PodLabels = map[string]string{"track": "canary"} })
	condition := o.await(a, v1alpha1.ReplacementNeeded, metav1.ConditionTrue, "ReplacementNeeded")
	assert.Contains(t, condition.Message, "Deployment: can't change in place: spec.selector")
	assert.Contains(t, condition.Message, "the pods stop")
	assert.NotContains(t, condition.Message, "Website a owns the object")
	assert.NotContains(t, o.at(a, "Service", "spec", "selector"), "track", "the Service still finds the pods")

	o.edit(a, func(spec *v1alpha1.WebsiteSpec) { spec.ReplacePolicy = v1alpha1.AllowReplace })
	o.awaitSynced(a)
	assert.NotEqual(t, old.GetUID(), o.child(a, "Deployment").GetUID())
	assert.Contains(t, o.at(a, "Deployment", "spec", "selector", "matchLabels"), "track")
	assert.Contains(t, o.at(a, "Service", "spec", "selector"), "track")
	o.await(a, v1alpha1.ReplacementNeeded, metav1.ConditionFalse, "AsDeclared")
	o.settle(a)
}
