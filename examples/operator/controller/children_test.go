package controller_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ssaplan/primitives/examples/operator/api/v1alpha1"
	"github.com/ssaplan/primitives/test/lab"
)

func TestAWebsiteBecomesItsChildren(t *testing.T) {
	w := newWorld(t)
	o := w.operate()
	a, b := o.website("a"), o.website("b")
	o.settle(a, b)
	theirs := o.versions(b)
	for kind := range kinds {
		obj := o.child(a, kind)
		require.NotNil(t, obj, kind)
		assert.True(t, metav1.IsControlledBy(obj, a), "%s: the Website's deletion deletes it", kind)
		assert.True(t, *obj.GetOwnerReferences()[0].BlockOwnerDeletion, kind)
		o.awaitEvent(a, "Created", kind)
	}
	assert.Equal(t, map[string]any{"GREETING": "hello", "COLOR": "blue"}, o.at(a, "ConfigMap", "data"))
	assert.EqualValues(t, 2, o.at(a, "Deployment", "spec", "replicas"))
	for _, complaint := range []string{v1alpha1.Drifted, v1alpha1.Conflict, v1alpha1.Refused, v1alpha1.ReplacementNeeded} {
		o.await(a, complaint, metav1.ConditionFalse, "AsDeclared")
	}

	o.edit(a, func(spec *v1alpha1.WebsiteSpec) {
		spec.Image, spec.Config = "web:2", map[string]string{"GREETING": "hi"}
	})
	o.awaitSynced(a)
	assert.Equal(t, map[string]any{"GREETING": "hi"}, o.at(a, "ConfigMap", "data"))
	containers := o.at(a, "Deployment", "spec", "template", "spec", "containers").([]any)
	assert.Equal(t, "web:2", containers[0].(map[string]any)["image"])
	assert.Empty(t, o.events(a, "DriftRepaired"), "edits are no drift")
	o.awaitEvent(a, "Updated", `"web:1" -> "web:2"`)

	o.settle(a)
	require.NoError(t, o.admin.Patch(t.Context(), o.child(a, "ConfigMap"), client.RawPatch(types.MergePatchType,
		[]byte(`{"data": {"GREETING": "closed"}}`)), client.FieldOwner("night-shift")))
	o.awaitEvent(a, "DriftRepaired", `"closed" -> "hi" (drifted: changed by "night-shift" (Update))`)
	assert.Equal(t, map[string]any{"GREETING": "hi"}, o.at(a, "ConfigMap", "data"))

	for kind := range kinds {
		old := o.child(a, kind)
		require.NoError(t, o.admin.Delete(t.Context(), old))
		lab.Eventually(t, kind+" is there again", func() bool {
			obj := o.child(a, kind)
			return obj != nil && obj.GetUID() != old.GetUID()
		})
	}
	o.awaitSynced(a)

	o.edit(a, func(spec *v1alpha1.WebsiteSpec) { spec.Host, spec.Config = "", nil })
	o.awaitSynced(a)
	assert.Nil(t, o.child(a, "Ingress"), "what is no longer wanted goes")
	assert.Nil(t, o.child(a, "ConfigMap"))
	o.awaitEvent(a, "Deleted", "Ingress")

	require.NoError(t, o.admin.Delete(t.Context(), a))
	o.settle(b)
	assert.Equal(t, theirs, o.versions(b), "another Website and its children stay as they are")
}

// The definition in config/crd.yaml and the Go types say the same: nothing that Go writes is refused or lost.
func TestDefinitionHoldsAllFields(t *testing.T) {
	w := newWorld(t)
	a := w.website("a", func(spec *v1alpha1.WebsiteSpec) {
		spec.Port = 80
		spec.PodLabels = map[string]string{"track": "stable"}
		spec.DriftPolicy, spec.ConflictPolicy, spec.ReplacePolicy = v1alpha1.ReportDrift, v1alpha1.RefuseConflicts, v1alpha1.AllowReplace
		spec.Ignore = []v1alpha1.IgnoredFields{{Kind: "Deployment", Fields: []string{"spec.replicas"}}}
	})
	a.Status = v1alpha1.WebsiteStatus{ObservedGeneration: 1, Conditions: []metav1.Condition{{
		Type: v1alpha1.Synced, Status: metav1.ConditionTrue, ObservedGeneration: 1, LastTransitionTime: metav1.Unix(1e9, 0), Reason: "AsDeclared", Message: "m",
	}}}
	want := a.DeepCopy()
	require.NoError(t, w.admin.Status().Update(t.Context(), a))
	require.NoError(t, w.admin.Get(t.Context(), client.ObjectKeyFromObject(a), a))
	assert.Equal(t, want.Spec, a.Spec)
	assert.Equal(t, want.Status, a.Status)
}
