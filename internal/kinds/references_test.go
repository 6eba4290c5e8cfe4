package kinds

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestReferences(t *testing.T) {
	pod := map[string]any{"spec": map[string]any{"serviceAccountName": "a", "priorityClassName": "b", "runtimeClassName": "c"}}
	assert.Equal(t, []Reference{
		{"ServiceAccount", "a"}, {"PriorityClass.scheduling.k8s.io", "b"}, {"RuntimeClass.node.k8s.io", "c"},
	}, References("Pod", pod))
	assert.Empty(t, References("Pod", map[string]any{"spec": map[string]any{}}))
	assert.Empty(t, References("Deployment.apps", map[string]any{"spec": map[string]any{"template": pod}}), "the server looks for nothing then")
	binding := map[string]any{"roleRef": map[string]any{"kind": "ClusterRole", "name": "a"}}
	for _, kind := range []string{"RoleBinding", "ClusterRoleBinding"} {
		assert.Equal(t, []Reference{{"ClusterRole.rbac.authorization.k8s.io", "a"}}, References(kind+".rbac.authorization.k8s.io", binding))
	}
	assert.Empty(t, References("RoleBinding.example.com", binding))
	for _, found := range append(References("Pod", pod), References("RoleBinding.rbac.authorization.k8s.io", binding)...) {
		assert.True(t, Referred(found.Kind), found.Kind)
	}
	assert.True(t, Referred("Role.rbac.authorization.k8s.io"))
	assert.False(t, Referred("Role"))
}

func TestLimits(t *testing.T) {
	assert.True(t, Limits("ResourceQuota"))
	assert.True(t, Limits("LimitRange"))
	assert.False(t, Limits("ResourceQuota.example.com"))
}
