package planner_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/identity/importid"
	"github.com/ssaplan/primitives/ssaplan"
)

// TestImportsOfUnrecordedObjects imports objects without managedFields: no field has an owner, and all of them can be
// selected.
func TestImportsOfUnrecordedObjects(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	m := manifest(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: imported}, data: {a: x, b: x}}")
	c.apply(t, m)
	c.Patch(t, "other", m, `{"metadata": {"managedFields": [{}]}}`)
	name := c.Namespace + "/ConfigMap/imported"
	for _, query := range []string{"", "?unowned"} {
		id, err := importid.Parse(name + query)
		require.NoError(t, err)
		imported, err := c.planner.Import(t.Context(), id)
		require.NoError(t, err)
		require.Equal(t, m.Object["data"], imported.Manifest.Object["data"], query)
		plan := c.plan(t, ssaplan.Request{Manifest: &unstructured.Unstructured{Object: imported.Manifest.Object}, Prior: imported.State})
		require.Equal(t, ssaplan.ActionUpdate, plan.Action)
		require.Empty(t, plan.Changes)
		reading, err := c.planner.Read(t.Context(), imported.State)
		require.NoError(t, err)
		require.Empty(t, reading.Drift)
	}
	id, err := importid.Parse(name + "?manager=" + manager)
	require.NoError(t, err)
	_, err = c.planner.Import(t.Context(), id)
	require.ErrorContains(t, err, fmt.Sprintf("%q owns no such fields: the object has no managedFields", manager))
}
