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
		assert.Empty(t, kinds.HazardsOf("PersistentVolumeClaim", obj), "no volume is named")
		assert.Len(t, kinds.HazardsOf("PersistentVolume", obj), 1, "no claim is named")
		assert.Len(t, kinds.HazardsOf("Pod", obj), 1, "whatever is in it")
		assert.Empty(t, kinds.HazardsOf("Widget.example.com", obj), "nothing is known of the kind")
	}
}

func TestHazardsUnreadNameNoField(t *testing.T) {
	for _, kind := range []string{
		"PersistentVolumeClaim", "PersistentVolume", "CustomResourceDefinition.apiextensions.k8s.io", "Namespace", "Node", "Pod",
		"StatefulSet.apps", "Deployment.apps", "Service", "RoleBinding.rbac.authorization.k8s.io",
	} {
		unread := kinds.HazardsUnread(kind, "x")
		assert.NotEmpty(t, unread, kind)
		for _, h := range unread {
			assert.NotContains(t, h.Text, "{", kind)
			assert.NotContains(t, h.Text, "  ", "a field that isn't known leaves no gap")
		}
		if kinds.HoldsOthers(kind) {
			assert.NotEmpty(t, unread, kind)
		}
	}
	assert.Empty(t, kinds.HazardsUnread("Widget.example.com", "x"))
}
