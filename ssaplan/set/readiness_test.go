package set

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestReadinessAsText(t *testing.T) {
	for want, r := range map[string]Readiness{
		"": {}, "a": {Why: "a"}, "b": {Said: "b"}, "a: b": {Why: "a", Said: "b"},
	} {
		require.Equal(t, want, r.String())
	}
}
