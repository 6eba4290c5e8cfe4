package ssaplan_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/ssaplan"
)

// Plan and Resolve use the default namespace for an object without one, and Resolve returns it. With RequireNamespace
// both fail.
func TestDefaultNamespace(t *testing.T) {
	id := identity.Identity{APIVersion: "v1", Kind: "ConfigMap", Name: "a"}
	for _, row := range []struct {
		why     string
		options ssaplan.Options
		want    string
	}{
		{"by default", ssaplan.Options{}, "default"},
		{"the host's", ssaplan.Options{DefaultNamespace: "shop"}, "shop"},
		{"none", ssaplan.Options{RequireNamespace: true}, ""},
		{"none, whatever the default", ssaplan.Options{RequireNamespace: true, DefaultNamespace: "shop"}, ""},
	} {
		t.Run(row.why, func(t *testing.T) {
			_, planner := world(row.options)
			resolved, err := planner.Resolve(t.Context(), id)
			_, planErr := planner.Plan(t.Context(), ssaplan.Request{Manifest: configMap("a", nil)})
			if row.want == "" {
				require.ErrorContains(t, err, "v1/ConfigMap a: metadata.namespace: missing")
				require.EqualError(t, planErr, err.Error())
				return
			}
			require.NoError(t, err)
			require.NoError(t, planErr)
			require.Equal(t, row.want, resolved.Namespace)
		})
	}
	_, planner := world(ssaplan.Options{RequireNamespace: true})
	_, err := planner.Resolve(t.Context(), identity.Identity{APIVersion: "x/v1", Kind: "Nothing", Name: "a"})
	require.True(t, meta.IsNoMatchError(err))
}
