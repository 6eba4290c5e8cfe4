package identity_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ssaplan/primitives/identity"
)

func ref(apiVersion, kind, namespace, name, uid string) identity.Ref {
	return identity.Ref{
		Identity: identity.Identity{APIVersion: apiVersion, Kind: kind, Namespace: namespace, Name: name},
		UID:      uid,
	}
}

func TestCompare(t *testing.T) {
	web := ref("apps/v1", "Deployment", "default", "web", "")
	inDefault := identity.Options{Scope: identity.ScopeNamespaced, DefaultNamespace: "default"}
	tests := []struct {
		name          string
		old, new      identity.Ref
		opts          identity.Options
		relation      identity.Relation
		same, replace bool
		reason        string
		why           string
	}{
		{
			name: "equal", old: web, new: web,
			relation: identity.RelationSame, same: true,
			reason: `same object: apps/v1/Deployment default/web`,
			why:    "nothing differs",
		},
		{
			name: "renamed", old: web, new: ref("apps/v1", "Deployment", "default", "api", ""),
			relation: identity.RelationDifferent, replace: true,
			reason: `different object: apps/v1/Deployment default/web -> apps/v1/Deployment default/api: metadata.name "web" -> "api"`,
			why:    "the old object would be left behind",
		},
		{
			name: "case", old: web, new: ref("apps/v1", "Deployment", "default", "Web", ""),
			relation: identity.RelationDifferent, replace: true,
			reason: `different object: apps/v1/Deployment default/web -> apps/v1/Deployment default/Web: metadata.name "web" -> "Web"`,
			why:    "names are case-sensitive",
		},
		{
			name: "everything", old: web, new: ref("batch/v1", "Job", "prod", "run", ""),
			relation: identity.RelationDifferent, replace: true,
			reason: `different object: apps/v1/Deployment default/web -> batch/v1/Job prod/run: apiVersion "apps/v1" -> "batch/v1", kind "Deployment" -> "Job", metadata.namespace "default" -> "prod", metadata.name "web" -> "run"`,
			why:    "each changed field is listed with both values",
		},
		{
			name: "group changed", old: ref("extensions/v1beta1", "Ingress", "default", "web", "u1"), new: ref("networking.k8s.io/v1", "Ingress", "default", "web", "u1"),
			opts:     identity.Options{AllowVersionChange: true},
			relation: identity.RelationDifferent, replace: true,
			reason: `different object: extensions/v1beta1/Ingress default/web -> networking.k8s.io/v1/Ingress default/web: apiVersion "extensions/v1beta1" -> "networking.k8s.io/v1"`,
			why:    "the opt-in is for versions inside one group",
		},
		{
			name: "core group to named group", old: ref("v1", "Event", "default", "e", ""), new: ref("events.k8s.io/v1", "Event", "default", "e", ""),
			relation: identity.RelationDifferent, replace: true,
			reason: `different object: v1/Event default/e -> events.k8s.io/v1/Event default/e: apiVersion "v1" -> "events.k8s.io/v1"`,
			why:    "equal version names don't make a version-only change",
		},
		{
			name: "version changed", old: ref("apps/v1beta1", "Deployment", "default", "web", ""), new: web,
			relation: identity.RelationVersionChanged, replace: true,
			reason: `version changed: apps/v1beta1/Deployment default/web -> apps/v1/Deployment default/web: apiVersion "apps/v1beta1" -> "apps/v1"`,
			why:    "without the opt-in a version counts like everything else",
		},
		{
			name: "version changed, opted in, same UID", old: ref("apps/v1beta1", "Deployment", "default", "web", "u1"), new: ref("apps/v1", "Deployment", "default", "web", "u1"),
			opts:     identity.Options{AllowVersionChange: true},
			relation: identity.RelationVersionChanged, same: true,
			reason: `version changed: apps/v1beta1/Deployment default/web -> apps/v1/Deployment default/web: apiVersion "apps/v1beta1" -> "apps/v1" (one stored object: same UID under both versions)`,
			why:    "the server showed one object under both versions",
		},
		{
			name: "version changed, same UID, not opted in", old: ref("apps/v1beta1", "Deployment", "default", "web", "u1"), new: ref("apps/v1", "Deployment", "default", "web", "u1"),
			relation: identity.RelationVersionChanged, replace: true,
			reason: `version changed: apps/v1beta1/Deployment default/web -> apps/v1/Deployment default/web: apiVersion "apps/v1beta1" -> "apps/v1"`,
			why:    "changing in place is the caller's choice",
		},
		{
			name: "version changed, opted in, UID unknown", old: ref("apps/v1beta1", "Deployment", "default", "web", "u1"), new: web,
			opts:     identity.Options{AllowVersionChange: true},
			relation: identity.RelationVersionChanged, replace: true,
			reason: `version changed: apps/v1beta1/Deployment default/web -> apps/v1/Deployment default/web: apiVersion "apps/v1beta1" -> "apps/v1" (not known to be one stored object: the UIDs under both versions are needed)`,
			why:    "an opt-in without proof proves nothing",
		},
		{
			name: "version changed, opted in, no UIDs at all", old: ref("apps/v1beta1", "Deployment", "default", "web", ""), new: web,
			opts:     identity.Options{AllowVersionChange: true},
			relation: identity.RelationVersionChanged, replace: true,
			reason: `version changed: apps/v1beta1/Deployment default/web -> apps/v1/Deployment default/web: apiVersion "apps/v1beta1" -> "apps/v1" (not known to be one stored object: the UIDs under both versions are needed)`,
			why:    "two empty UIDs are equal but show nothing",
		},
		{
			name: "re-created", old: ref("apps/v1", "Deployment", "default", "web", "u1"), new: ref("apps/v1", "Deployment", "default", "web", "u2"),
			relation: identity.RelationRecreated,
			reason:   `re-created object: apps/v1/Deployment default/web: metadata.uid "u1" -> "u2"`,
			why:      "somebody deleted and created it; deleting theirs is not ours to plan",
		},
		{
			name: "re-created under another version", old: ref("apps/v1beta1", "Deployment", "default", "web", "u1"), new: ref("apps/v1", "Deployment", "default", "web", "u2"),
			opts:     identity.Options{AllowVersionChange: true},
			relation: identity.RelationRecreated,
			reason:   `re-created object: apps/v1beta1/Deployment default/web -> apps/v1/Deployment default/web: apiVersion "apps/v1beta1" -> "apps/v1", metadata.uid "u1" -> "u2"`,
			why:      "other UIDs outrank the version",
		},
		{
			name: "different objects with UIDs", old: ref("v1", "ConfigMap", "default", "a", "u1"), new: ref("v1", "ConfigMap", "default", "b", "u2"),
			relation: identity.RelationDifferent, replace: true,
			reason: `different object: v1/ConfigMap default/a -> v1/ConfigMap default/b: metadata.name "a" -> "b"`,
			why:    "that different objects have different UIDs is no news",
		},
		{
			name: "UID known on one side", old: ref("v1", "ConfigMap", "default", "a", "u1"), new: ref("v1", "ConfigMap", "default", "a", ""),
			relation: identity.RelationSame, same: true,
			reason: `same object: v1/ConfigMap default/a`,
			why:    "a manifest has no UID",
		},
		{
			name: "empty namespace, strict", old: web, new: ref("apps/v1", "Deployment", "", "web", ""),
			relation: identity.RelationDifferent, replace: true,
			reason: `different object: apps/v1/Deployment default/web -> apps/v1/Deployment web: metadata.namespace "default" -> ""`,
			why:    "which namespace an empty one means is the caller's knowledge",
		},
		{
			name: "default namespace without scope", old: web, new: ref("apps/v1", "Deployment", "", "web", ""),
			opts:     identity.Options{DefaultNamespace: "default"},
			relation: identity.RelationDifferent, replace: true,
			reason: `different object: apps/v1/Deployment default/web -> apps/v1/Deployment web: metadata.namespace "default" -> ""`,
			why:    "the kind could be cluster-scoped",
		},
		{
			name: "empty namespace is the default one", old: web, new: ref("apps/v1", "Deployment", "", "web", ""),
			opts:     inDefault,
			relation: identity.RelationSame, same: true,
			reason: `same object: apps/v1/Deployment default/web`,
			why:    "both are default/web",
		},
		{
			name: "old one without namespace", old: ref("apps/v1", "Deployment", "", "web", ""), new: web,
			opts:     inDefault,
			relation: identity.RelationSame, same: true,
			reason: `same object: apps/v1/Deployment default/web`,
			why:    "adding the namespace to a manifest moves nothing",
		},
		{
			name: "other default namespace", old: web, new: ref("apps/v1", "Deployment", "", "web", ""),
			opts:     identity.Options{Scope: identity.ScopeNamespaced, DefaultNamespace: "prod"},
			relation: identity.RelationDifferent, replace: true,
			reason: `different object: apps/v1/Deployment default/web -> apps/v1/Deployment prod/web: metadata.namespace "default" -> "prod"`,
			why:    "the client's context changed, and so did the object",
		},
		{
			name: "kind changed to a cluster-scoped one", old: ref("rbac.authorization.k8s.io/v1", "Role", "prod", "r", ""), new: ref("rbac.authorization.k8s.io/v1", "ClusterRole", "", "r", ""),
			opts:     identity.Options{Scope: identity.ScopeCluster},
			relation: identity.RelationDifferent, replace: true,
			reason: `different object: rbac.authorization.k8s.io/v1/Role prod/r -> rbac.authorization.k8s.io/v1/ClusterRole r: kind "Role" -> "ClusterRole", metadata.namespace "prod" -> ""`,
			why:    "the scope is that of the new kind and says nothing of the old one",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := identity.Compare(tt.old, tt.new, tt.opts)
			assert.Equal(t, tt.relation, got.Relation, tt.why)
			assert.Equal(t, tt.same, got.Same(), tt.why)
			assert.Equal(t, tt.replace, got.Replace(), tt.why)
			assert.Equal(t, tt.reason, got.Reason(), tt.why)
			assert.Empty(t, got.Warnings, tt.why)
		})
	}
}

func TestCompareWarnsOfDroppedNamespace(t *testing.T) {
	cluster := identity.Options{Scope: identity.ScopeCluster}
	plain := ref("v1", "Namespace", "", "web", "")
	odd := ref("v1", "Namespace", "default", "web", "")
	const warning = `v1/Namespace web: namespace "default" is ignored, because Namespace is cluster-scoped`
	tests := []struct {
		name     string
		old, new identity.Ref
		want     []string
		why      string
	}{
		{"new", plain, odd, []string{warning}, "the manifest says something that has no effect"},
		{"old", odd, plain, []string{warning}, "the remembered identity did"},
		{"both", odd, odd, []string{warning}, "said once is enough"},
		{"neither", plain, plain, nil, "nothing was dropped"},
		{"two namespaces", odd, ref("v1", "Namespace", "prod", "web", ""), []string{
			warning, `v1/Namespace web: namespace "prod" is ignored, because Namespace is cluster-scoped`,
		}, "two different things were dropped"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := identity.Compare(tt.old, tt.new, cluster)
			assert.Equal(t, identity.RelationSame, got.Relation, tt.why)
			assert.Equal(t, tt.want, got.Warnings, tt.why)
		})
	}
}

func TestZeroResult(t *testing.T) {
	var zero identity.Result
	assert.False(t, zero.Same())
	assert.False(t, zero.Replace(), "nothing is destroyed because nothing was compared")
	assert.Empty(t, zero.Reason())
}
