package identity_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/internal/rows"
)

func ref(apiVersion, kind, namespace, name, uid string) identity.Ref {
	return identity.Ref{
		Identity: identity.Identity{APIVersion: apiVersion, Kind: kind, Namespace: namespace, Name: name},
		UID:      uid,
	}
}

func TestCompare(t *testing.T) {
	scopes := map[string]identity.Scope{"namespaced": identity.ScopeNamespaced, "cluster": identity.ScopeCluster}
	of := func(parts [5]string) identity.Ref { return ref(parts[0], parts[1], parts[2], parts[3], parts[4]) }
	for _, tt := range rows.Read[struct {
		Name                    string
		Old, New                [5]string
		Scope, DefaultNamespace string
		AllowVersion            bool
		Relation                identity.Relation
		Same, Replace           bool
		Reason, Why             string
	}](t, "compare") {
		t.Run(tt.Name, func(t *testing.T) {
			opts := identity.Options{
				Scope: scopes[tt.Scope], DefaultNamespace: tt.DefaultNamespace, AllowVersionChange: tt.AllowVersion,
			}
			got := identity.Compare(of(tt.Old), of(tt.New), opts)
			assert.Equal(t, tt.Relation, got.Relation, tt.Why)
			assert.Equal(t, tt.Same, got.Same(), tt.Why)
			assert.Equal(t, tt.Replace, got.Replace(), tt.Why)
			assert.Equal(t, tt.Reason, got.Reason(), tt.Why)
			assert.Empty(t, got.Warnings, tt.Why)
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
