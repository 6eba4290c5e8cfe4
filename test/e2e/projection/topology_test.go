package projection_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/projection"
)

// checkTopology creates an object without applying it, as other tools do, and learns from that. What it reveals is
// less, for who creates an object owns the defaults too; what it tells all the same must be right.
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
