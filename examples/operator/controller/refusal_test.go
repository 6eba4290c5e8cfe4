package controller_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ssaplan/primitives/examples/operator/api/v1alpha1"
)

func image(o *operator, website *v1alpha1.Website) any {
	return o.at(website, "Deployment", "spec", "template", "spec", "containers").([]any)[0].(map[string]any)["image"]
}

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
	assert.Contains(t, condition.Message, "spec.replacePolicy")
	assert.NotContains(t, condition.Message, "Website a owns the object")
	assert.Contains(t, o.await(a, v1alpha1.Synced, metav1.ConditionFalse, "ReplacementNeeded").Message, "Service: its changes wait")
	o.awaitEvent(a, v1alpha1.ReplacementNeeded, "spec.selector")
	o.staysAsItIs(a)
	assert.NotContains(t, o.at(a, "Service", "spec", "selector"), "track", "the Service still finds the pods")

	o.edit(a, func(spec *v1alpha1.WebsiteSpec) { spec.ReplacePolicy = v1alpha1.AllowReplace })
	o.awaitSynced(a)
	assert.NotEqual(t, old.GetUID(), o.child(a, "Deployment").GetUID())
	assert.Contains(t, o.at(a, "Deployment", "spec", "selector", "matchLabels"), "track")
	assert.Contains(t, o.at(a, "Service", "spec", "selector"), "track")
	o.awaitEvent(a, "Replaced", "spec.selector")
	o.await(a, v1alpha1.ReplacementNeeded, metav1.ConditionFalse, "AsDeclared")
	o.settle(a)
}

// A finalizer holds up the old Deployment. The operator says so, doesn't wait for ever, and goes on when it is gone.
func TestReplacementThatIsHeldUp(t *testing.T) {
	w := newWorld(t)
	o := w.operate(func(s *settings) { s.controller.ReplaceTimeout = 15 * time.Second })
	a := o.website("a", func(spec *v1alpha1.WebsiteSpec) { spec.ReplacePolicy = v1alpha1.AllowReplace })
	o.settle(a)
	o.patch(a, "Deployment", "night-shift", `{"metadata": {"finalizers": ["example.com/hold"]}}`)
	old := o.child(a, "Deployment")

	o.edit(a, func(spec *v1alpha1.WebsiteSpec) { spec.PodLabels = map[string]string{"track": "canary"} })
	condition := o.await(a, v1alpha1.Synced, metav1.ConditionFalse, "Failed")
	assert.Contains(t, condition.Message, "Deployment: ")
	assert.Contains(t, condition.Message, "the delete waits for finalizers example.com/hold")
	assert.NotContains(t, o.at(a, "Service", "spec", "selector"), "track", "the old pods are still found")

	o.patch(a, "Deployment", "night-shift", `{"metadata": {"finalizers": null}}`)
	o.awaitSynced(a)
	assert.NotEqual(t, old.GetUID(), o.child(a, "Deployment").GetUID())
	assert.Contains(t, o.at(a, "Deployment", "spec", "selector", "matchLabels"), "track")
}

func TestRefusalIsReportedAndHoldsBackTheRest(t *testing.T) {
	w := newWorld(t)
	o := w.operate()
	a := o.website("a")
	o.settle(a)
	o.edit(a, func(spec *v1alpha1.WebsiteSpec) { spec.Host, spec.Image = "Not A Host", "web:2" })
	condition := o.await(a, v1alpha1.Refused, metav1.ConditionTrue, "Refused")
	assert.Contains(t, condition.Message, "spec.rules[0].host")
	o.awaitEvent(a, v1alpha1.Refused, "spec.rules[0].host")
	o.staysAsItIs(a)
	assert.Equal(t, "web:1", image(o, a))
	o.edit(a, func(spec *v1alpha1.WebsiteSpec) { spec.Host = "b.example.com" })
	o.awaitSynced(a)
	assert.Equal(t, "web:2", image(o, a))

	// A repair isn't held back.
	o.settle(a)
	o.edit(a, func(spec *v1alpha1.WebsiteSpec) { spec.Host = "Not A Host" })
	o.await(a, v1alpha1.Refused, metav1.ConditionTrue, "Refused")
	o.scale(a, "kubectl", 7)
	o.await(a, v1alpha1.Drifted, metav1.ConditionFalse, "Repaired")
	assert.EqualValues(t, 2, o.at(a, "Deployment", "spec", "replicas"))
}

// What somebody else made under the name of a child stays theirs, whether it bears the operator's label or not.
func TestOthersObjectsAreNotTaken(t *testing.T) {
	w := newWorld(t)
	o := w.operate()
	for what, labels := range map[string]map[string]string{"plain": nil, "labelled": {"app.kubernetes.io/managed-by": "website-operator"}} {
		theirs := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: what, Labels: labels}, Data: map[string]string{"COLOR": "red"}}
		require.NoError(t, w.admin.Create(t.Context(), theirs))
		a := o.website(what)
		condition := o.await(a, v1alpha1.Refused, metav1.ConditionTrue, "Refused")
		assert.Contains(t, condition.Message, "ConfigMap: exists and is not controlled by this Website", what)
		assert.Equal(t, theirs.ResourceVersion, o.child(a, "ConfigMap").GetResourceVersion(), what)
		o.edit(a, func(spec *v1alpha1.WebsiteSpec) { spec.Config = nil })
		o.awaitSynced(a)
		assert.NotNil(t, o.child(a, "ConfigMap"), what)
	}
}
