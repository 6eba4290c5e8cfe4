package controller_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/ssaplan/primitives/examples/operator/api/v1alpha1"
)

// scale writes the scale subresource of the Deployment, as an autoscaler does.
func (w *world) scale(website *v1alpha1.Website, manager string, replicas int32) {
	w.Helper()
	clients, err := kubernetes.NewForConfig(w.Server.Config())
	require.NoError(w, err)
	scale := &autoscalingv1.Scale{ObjectMeta: metav1.ObjectMeta{Namespace: website.Namespace, Name: website.Name}, Spec: autoscalingv1.ScaleSpec{Replicas: replicas}}
	_, err = clients.AppsV1().Deployments(website.Namespace).UpdateScale(w.Context(), website.Name, scale, metav1.UpdateOptions{FieldManager: manager})
	require.NoError(w, err)
}

func TestDriftIsLeftAndReported(t *testing.T) {
	w := newWorld(t)
	o := w.operate()
	a := o.website("a", func(spec *v1alpha1.WebsiteSpec) { spec.DriftPolicy = v1alpha1.ReportDrift })
	o.settle(a)

	o.patch(a, "ConfigMap", "night-shift", `{"data": {"COLOR": "red"}}`)
	condition := o.await(a, v1alpha1.Drifted, metav1.ConditionTrue, "Drifted")
	assert.Equal(t, `ConfigMap: data.COLOR: "red" -> "blue" (drifted: changed by "night-shift" (Update))`, condition.Message)
	o.await(a, v1alpha1.Synced, metav1.ConditionFalse, "Drifted")
	o.awaitEvent(a, v1alpha1.Drifted, "night-shift")
	o.staysAsItIs(a)

	o.edit(a, func(spec *v1alpha1.WebsiteSpec) { spec.Config["GREETING"] = "hi" })
	o.awaitSynced(a)
	assert.Equal(t, map[string]any{"GREETING": "hi", "COLOR": "blue"}, o.at(a, "ConfigMap", "data"), "an edit is applied as a whole")
	assert.Equal(t, metav1.ConditionFalse, o.condition(a, v1alpha1.Drifted).Status)
}

// staysAsItIs resyncs an operator that is at odds with the cluster, and wants it to write nothing.
func (o *operator) staysAsItIs(website *v1alpha1.Website) {
	o.Helper()
	before, writes := o.versions(website), o.traffic.writes()
	for range 20 {
		o.resync(website)
	}
	assert.Equal(o, before, o.versions(website))
	assert.Equal(o, writes, o.traffic.writes())
}

func TestConflictIsReported(t *testing.T) {
	w := newWorld(t)
	o := w.operate()
	a := o.website("a", func(spec *v1alpha1.WebsiteSpec) { spec.ConflictPolicy = v1alpha1.RefuseConflicts })
	o.settle(a)

	o.patch(a, "ConfigMap", "night-shift", `{"data": {"COLOR": "red"}}`)
	condition := o.await(a, v1alpha1.Conflict, metav1.ConditionTrue, "Conflict")
	assert.Equal(t, `ConfigMap: data.COLOR: owned by "night-shift" (Update)`, condition.Message)
	o.await(a, v1alpha1.Synced, metav1.ConditionFalse, "Conflict")
	o.awaitEvent(a, v1alpha1.Conflict, "night-shift")
	o.staysAsItIs(a)

	o.edit(a, func(spec *v1alpha1.WebsiteSpec) { spec.Image = "web:2" })
	o.await(a, v1alpha1.Conflict, metav1.ConditionTrue, "Conflict")
	assert.Contains(t, o.condition(a, v1alpha1.Synced).Message, "Deployment: its changes wait", "an edit is made to all children or to none")

	o.patch(a, "ConfigMap", "night-shift", `{"data": {"COLOR": "blue"}}`)
	o.awaitSynced(a)
	assert.Equal(t, "web:2", image(o, a))
	assert.Len(t, o.events(a, v1alpha1.Conflict), 1, "what was said isn't said again")

	o.patch(a, "ConfigMap", "night-shift", `{"data": {"COLOR": "red"}}`)
	o.await(a, v1alpha1.Conflict, metav1.ConditionTrue, "Conflict")
	o.edit(a, func(spec *v1alpha1.WebsiteSpec) { spec.ConflictPolicy = v1alpha1.ForceConflicts })
	o.awaitSynced(a)
	assert.Equal(t, "blue", o.at(a, "ConfigMap", "data", "COLOR"), "the policy settles it")
}

func TestAnAutoscalerKeepsTheReplicas(t *testing.T) {
	w := newWorld(t)
	o := w.operate()
	ignoring := func(spec *v1alpha1.WebsiteSpec) {
		spec.Ignore = []v1alpha1.IgnoredFields{{Kind: "Deployment", Fields: []string{"spec.replicas"}}}
	}
	a, b := o.website("a", ignoring), o.website("b")
	o.settle(a, b)
	before := o.child(b, "Deployment").GetResourceVersion()
	o.edit(b, ignoring)
	o.settle(b)
	assert.Equal(t, before, o.child(b, "Deployment").GetResourceVersion(), "what is ignored from now on, and nobody else owns, isn't reset by no longer being sent")
	assert.EqualValues(t, 2, o.at(b, "Deployment", "spec", "replicas"))
	assert.EqualValues(t, 2, o.at(a, "Deployment", "spec", "replicas"), "as long as nobody else has it, the Website says")

	o.scale(a, "horizontal-pod-autoscaler", 7)
	o.settle(a)
	o.scale(a, "horizontal-pod-autoscaler", 5)
	o.settle(a)
	o.edit(a, func(spec *v1alpha1.WebsiteSpec) { spec.Image = "web:2" })
	o.settle(a)
	assert.EqualValues(t, 5, o.at(a, "Deployment", "spec", "replicas"))
	assert.Empty(t, o.events(a, "DriftRepaired"))
	o.await(a, v1alpha1.Drifted, metav1.ConditionFalse, "AsDeclared")
}
