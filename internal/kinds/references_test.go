package kinds

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ssaplan/primitives/internal/rows"
)

func TestReferences(t *testing.T) {
	pod := map[string]any{"spec": map[string]any{"serviceAccountName": "a", "priorityClassName": "b", "runtimeClassName": "c"}}
	needed := []Reference{
		{Kind: "ServiceAccount", Name: "a"}, {Kind: "PriorityClass.scheduling.k8s.io", Name: "b"}, {Kind: "RuntimeClass.node.k8s.io", Name: "c"},
	}
	assert.Equal(t, needed, EnforcedReferences("Pod", pod))
	assert.Equal(t, needed, References("Pod", pod))
	assert.Empty(t, EnforcedReferences("Pod", map[string]any{"spec": map[string]any{}}))
	deployment := map[string]any{"spec": map[string]any{"template": pod}}
	assert.Empty(t, EnforcedReferences("Deployment.apps", deployment), "the server looks for nothing then")
	assert.Equal(t, needed, References("Deployment.apps", deployment), "but its pods need it")
	for _, kind := range []string{"PodGroup", "CompositePodGroup"} {
		assert.Equal(t, []Reference{{Kind: "PriorityClass.scheduling.k8s.io", Name: "b"}}, EnforcedReferences(kind+".scheduling.k8s.io", pod))
	}
	binding := map[string]any{"roleRef": map[string]any{"kind": "ClusterRole", "name": "a"}}
	for _, kind := range []string{"RoleBinding", "ClusterRoleBinding"} {
		want := []Reference{{Kind: "ClusterRole.rbac.authorization.k8s.io", Name: "a"}}
		assert.Equal(t, want, References(kind+".rbac.authorization.k8s.io", binding))
		assert.Equal(t, want, EnforcedReferences(kind+".rbac.authorization.k8s.io", binding))
	}
	assert.Empty(t, References("RoleBinding.example.com", binding))
	for _, found := range append(References("Pod", pod), References("RoleBinding.rbac.authorization.k8s.io", binding)...) {
		assert.True(t, Referred(found.Kind), found.Kind)
	}
	assert.True(t, MayRefer("Deployment.apps", "ConfigMap"))
	assert.True(t, MayRefer("StatefulSet.apps", "Service"))
	assert.False(t, MayRefer("ConfigMap", "Deployment.apps"))
	assert.False(t, MayRefer("Deployment.example.com", "ConfigMap"))
	assert.True(t, Referred("Role.rbac.authorization.k8s.io"))
	assert.False(t, Referred("Role"))
}

// TestReferencesOf has a row for each field that names another object.
func TestReferencesOf(t *testing.T) {
	for _, row := range rows.Read[struct {
		Kind     string
		Manifest map[string]any
		Want     []string
	}](t, "references") {
		var got []string
		for _, found := range References(row.Kind, row.Manifest) {
			assert.True(t, Referred(found.Kind), found.Kind)
			name := found.Name
			if found.Namespace != "" {
				name = found.Namespace + "/" + name
			}
			got = append(got, found.Kind+" "+name)
		}
		assert.Equal(t, row.Want, got, row.Kind)
	}
}

// A removal keeps what others refer to until these are gone: no kinds may refer to each other in a circle.
func TestNoCircleOfReferences(t *testing.T) {
	const own = "CompositePodGroup.scheduling.k8s.io" // a group in one of its kind
	var follow func(kind string, from []string)
	follow = func(kind string, from []string) {
		assert.NotContains(t, from, kind, "%s", from)
		for to := range referred {
			if MayRefer(kind, to) && !(kind == own && to == own) && !t.Failed() {
				follow(to, append(from[:len(from):len(from)], kind))
			}
		}
	}
	for kind := range references {
		follow(kind, nil)
	}
	for kind := range podSpecs {
		follow(kind, nil)
	}
}

func TestLimits(t *testing.T) {
	assert.True(t, Limits("ResourceQuota"))
	assert.True(t, Limits("LimitRange"))
	assert.False(t, Limits("ResourceQuota.example.com"))
}
