package immutability_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestDependencyBudget keeps client-go and the other packages of this module out of programs that only classify.
func TestDependencyBudget(t *testing.T) {
	const self = "github.com/ssaplan/primitives/immutability"
	out, err := exec.Command("go", "list", "-deps", self).Output()
	require.NoError(t, err)
	deps := strings.Fields(string(out))
	require.Contains(t, deps, self)
	for _, dep := range deps {
		for _, banned := range []string{"k8s.io/client-go", "k8s.io/api/"} {
			assert.False(t, strings.HasPrefix(dep, banned), dep)
		}
		assert.False(t, strings.HasPrefix(dep, "github.com/ssaplan/primitives/") && dep != self, dep)
	}
}
