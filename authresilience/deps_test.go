package authresilience_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestDependencyBudget keeps the package independent: of this module it imports nothing, and of client-go only what its
// errors and configurations are made of.
func TestDependencyBudget(t *testing.T) {
	const module = "github.com/ssaplan/primitives/"
	out, err := exec.Command("go", "list", "-deps", module+"authresilience").Output()
	require.NoError(t, err)
	for _, dependency := range strings.Fields(string(out)) {
		if strings.HasPrefix(dependency, module) {
			assert.Equal(t, module+"authresilience", dependency)
		}
		for _, heavy := range []string{"k8s.io/client-go/kubernetes", "k8s.io/client-go/dynamic", "k8s.io/client-go/tools/clientcmd"} {
			assert.NotEqual(t, heavy, dependency)
		}
	}
}
