package discovery

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDepth(t *testing.T) {
	require.False(t, isDeeper([]byte(`["[[[\"[[[",{},{},[]]`), 2))
	require.True(t, isDeeper([]byte(`["[[[\"[[[",{},{},[{}]]`), 2))
}
