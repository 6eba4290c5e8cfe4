package kinds_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ssaplan/primitives/internal/kinds"
)

// TestHazardsOfOddObjects holds that an object of any form is read, and that a field that isn't text counts as none.
func TestHazardsOfOddObjects(t *testing.T) {
	for _, obj := range []map[string]any{
		nil, {}, {"": "x"}, {"spec": "x"}, {"spec": map[string]any{"volumeName": 5, "claimRef": []any{}}}, {"metadata": nil},
	} {
		assert.Empty(t, kinds.HazardsOf("PersistentVolumeClaim", obj, kinds.Deletion{}), "no volume is named")
		assert.Len(t, kinds.HazardsOf("PersistentVolume", obj, kinds.Deletion{}), 1, "no claim is named")
		assert.Len(t, kinds.HazardsOf("Pod", obj, kinds.Deletion{}), 1, "whatever is in it")
		assert.Empty(t, kinds.HazardsOf("Lease.coordination.k8s.io", obj, kinds.Deletion{}), "nothing is known of the kind")
		assert.Len(t, kinds.HazardsOf("Widget.example.com", obj, kinds.Deletion{}), 1, "nobody knows what its controller does")
	}
}

// TestHazardsUnreadNameNoField holds it for each way to delete.
func TestHazardsUnreadNameNoField(t *testing.T) {
	for _, kind := range []string{
		"PersistentVolumeClaim", "PersistentVolume", "CustomResourceDefinition.apiextensions.k8s.io", "Namespace", "Node", "Pod",
		"StatefulSet.apps", "Deployment.apps", "Service", "RoleBinding.rbac.authorization.k8s.io", "Widget.example.com",
	} {
		for _, deletion := range []kinds.Deletion{{}, {ForGood: true}, {Policy: "Orphan"}, {Policy: "Orphan", ForGood: true}} {
			unread := kinds.HazardsUnread(kind, "x", deletion)
			assert.NotEmpty(t, unread, kind)
			for _, h := range unread {
				assert.NotContains(t, h.Text, "{", kind)
				assert.NotContains(t, h.Text, "  ", "a field that isn't known leaves no gap")
				if deletion.ForGood {
					assert.NotContains(t, h.Text, "new", "%s: no new object comes", kind)
				}
			}
		}
	}
	assert.Empty(t, kinds.HazardsUnread("Lease.coordination.k8s.io", "x", kinds.Deletion{}))
}

// TestPodsStopOrRun holds that what becomes of pods follows from the policy.
func TestPodsStopOrRun(t *testing.T) {
	for _, kind := range []string{
		"StatefulSet.apps", "Deployment.apps", "ReplicaSet.apps", "DaemonSet.apps", "ReplicationController", "Job.batch",
	} {
		for _, row := range []struct {
			deletion kinds.Deletion
			want     string
		}{
			{kinds.Deletion{}, "the pods stop before the new object starts new ones"},
			{kinds.Deletion{Policy: "Background"}, "the pods stop before the new object starts new ones"},
			{kinds.Deletion{Policy: "Foreground", ForGood: true}, "the pods stop"},
			{kinds.Deletion{Policy: "Orphan", ForGood: true}, "the pods keep running without it"},
		} {
			want := []kinds.Hazard{{Endangers: "Interruption", Text: row.want}}
			assert.Equal(t, want, kinds.HazardsOf(kind, nil, row.deletion), kind)
			if row.deletion.Policy == "Orphan" {
				assert.Equal(t, want, kinds.HazardsUnread(kind, "x", row.deletion), kind)
			}
		}
		orphaned := kinds.HazardsOf(kind, nil, kinds.Deletion{Policy: "Orphan"})
		if kind == "Job.batch" { // whose pods name the Job by its UID
			assert.Equal(t, "the pods keep running, beside those that the new object starts", orphaned[0].Text)
		} else {
			assert.Equal(t, "the pods keep running, and the new object adopts those that match its selector", orphaned[0].Text)
		}
	}
	assert.Empty(t, kinds.HazardsOf("CronJob.batch", nil, kinds.Deletion{Policy: "Orphan"}), "its jobs go on")
	assert.Equal(t, "the jobs that it started stop, and their pods", kinds.HazardsOf("CronJob.batch", nil, kinds.Deletion{})[0].Text)
}

// TestDependents holds what the garbage collector makes of dependents.
func TestDependents(t *testing.T) {
	const dependents = "objects that name this one as their owner "
	stays := kinds.Hazard{Endangers: "Blocked", Text: "the object stays until its dependents are gone that block its deletion"}
	for _, row := range []struct {
		deletion kinds.Deletion
		want     []kinds.Hazard
	}{
		{kinds.Deletion{}, []kinds.Hazard{{Endangers: "Dependents", Text: dependents + "are deleted with it"}}},
		{kinds.Deletion{Policy: "Background", ForGood: true}, []kinds.Hazard{
			{Endangers: "Dependents", Text: dependents + "are deleted with it"}}},
		{kinds.Deletion{Policy: "Foreground"}, []kinds.Hazard{stays, {Endangers: "Dependents", Text: dependents + "are deleted before it"}}},
		{kinds.Deletion{Policy: "Orphan", ForGood: true}, []kinds.Hazard{
			{Endangers: "Dependents", Text: dependents + "remain without an owner"}}},
		{kinds.Deletion{Policy: "Orphan"}, []kinds.Hazard{{Endangers: "Dependents", Text: dependents +
			"remain without an owner; the new object doesn't own them unless its controller adopts them"}}},
	} {
		assert.Equal(t, row.want, row.deletion.Dependents(), row.deletion)
	}
}
