package scale_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/ssaplan/internal/scale"
)

// A Scale without a known owner has no managedFields, as an object without owners. An empty list would be something
// else.
func TestNoRecord(t *testing.T) {
	of := scale.Of(object(t, "{metadata: {name: web}, spec: {replicas: 2}}"), nil)
	require.Equal(t, map[string]any{"name": "web"}, of.Object["metadata"])
}
