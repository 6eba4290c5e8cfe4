package fieldowner_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestDependencyBudget keeps the package importable without a client: it needs what the types of apimachinery's meta/v1
// need, projection, and nothing else.
func TestDependencyBudget(t *testing.T) {
	const self = "github.com/ssaplan/primitives/fieldowner"
	allowed := append(dependencies(t, "k8s.io/apimachinery/pkg/apis/meta/v1"),
		dependencies(t, "github.com/ssaplan/primitives/projection")...)
	for _, pkg := range dependencies(t, self) {
		assert.True(t, pkg == self || slices.Contains(allowed, pkg), "%s imports %s", self, pkg)
		assert.False(t, strings.HasPrefix(pkg, "k8s.io/client-go"), "%s imports %s", self, pkg)
	}
}

func dependencies(t *testing.T, pkg string) []string {
	t.Helper()
	out, err := exec.Command("go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", pkg).Output()
	require.NoError(t, err)
	return strings.Fields(string(out))
}
