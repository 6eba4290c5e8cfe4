package planner_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/test/lab"
)

// TestRequireNamespace refuses manifests that name no namespace, of kinds that have them, one at a time and in sets.
func TestRequireNamespace(t *testing.T) {
	c := newCluster(t)
	planner, err := lab.NewPlanner(c.Config, ssaplan.Options{FieldManager: manager, RequireNamespace: true, DefaultNamespace: c.Namespace})
	require.NoError(t, err)
	m := manifest(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: here}}")
	_, err = planner.Plan(t.Context(), ssaplan.Request{Manifest: m})
	require.ErrorContains(t, err, "v1/ConfigMap here: metadata.namespace: missing")
	for _, err := range planner.PlanAll(t.Context(), []ssaplan.Request{{Manifest: m}}) {
		require.ErrorContains(t, err, "v1/ConfigMap here: metadata.namespace: missing")
	}
	_, err = planner.Resolve(t.Context(), identity.Identity{APIVersion: "v1", Kind: "ConfigMap", Name: "here"})
	require.ErrorContains(t, err, "metadata.namespace: missing")
	m.SetNamespace(c.Namespace)
	_, err = planner.Plan(t.Context(), ssaplan.Request{Manifest: m})
	require.NoError(t, err)
	_, err = planner.Plan(t.Context(), ssaplan.Request{Manifest: manifest(t, "{apiVersion: v1, kind: Namespace, metadata: {name: default}}")})
	require.NoError(t, err, "what is in no namespace needs none")
}

// TestResolve finds the identity that plans and states have.
func TestResolve(t *testing.T) {
	c := newCluster(t)
	for _, row := range []struct{ why, manifest, namespace string }{
		{"the default one", "{apiVersion: v1, kind: ConfigMap, metadata: {name: resolved}}", c.Namespace},
		{"its own", "{apiVersion: v1, kind: ConfigMap, metadata: {name: resolved, namespace: default}}", "default"},
		{"none", "{apiVersion: v1, kind: Namespace, metadata: {name: resolved, namespace: x}}", ""},
	} {
		m := manifest(t, "%s", row.manifest)
		id, err := identity.Of(m.Object)
		require.NoError(t, err)
		resolved, err := c.planner.Resolve(t.Context(), id)
		require.NoError(t, err)
		require.Equal(t, row.namespace, resolved.Namespace, row.why)
		require.Equal(t, c.plan(t, ssaplan.Request{Manifest: m}).Object, resolved)
	}
	_, err := c.planner.Resolve(t.Context(), identity.Identity{APIVersion: "x.example.com/v1", Kind: "Unknown", Name: "a"})
	require.True(t, meta.IsNoMatchError(err), err)
}
