package projection_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/projection"
)

// checkTopology learns a schema from an object that another tool creates without an apply. Such an object reveals less,
// because its creator also owns the defaults. If the schema is enough for the manifest, the declared fields must be the
// recorded fields.
func (c *realCluster) checkTopology(t *testing.T, manifest *unstructured.Unstructured) {
	created := manifest.DeepCopy()
	created.SetName(manifest.GetName() + "-created")
	live, err := c.Resource(t, created).Create(t.Context(), created, metav1.CreateOptions{FieldManager: other, DryRun: []string{metav1.DryRunAll}})
	if err != nil {
		return // of kinds whose name says what they are, there can't be two alike
	}
	c.created++
	topology, err := projection.LearnSchema(live.Object)
	require.NoError(t, err)
	fields, err := topology.Declared(t.Context(), manifest.Object)
	if err != nil {
		assert.ErrorIs(t, err, projection.ErrNoSchema)
		return
	}
	c.told++
	assert.Equal(t, recorded(t, c.Get(t, manifest)).Leaves().String(), fields.Leaves().String(), "the topology of a created object")
}
