package identity_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestDependencyBudget keeps the package importable at no cost: the standard library and nothing else.
func TestDependencyBudget(t *testing.T) {
	const self = "github.com/ssaplan/primitives/identity"
	out, err := exec.Command("go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", self).Output()
	require.NoError(t, err)
	assert.Equal(t, []string{self}, strings.Fields(string(out)))
}
