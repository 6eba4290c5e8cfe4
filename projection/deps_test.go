package projection_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const module = "github.com/ssaplan/primitives"

func goList(t *testing.T, args ...string) []string {
	out, err := exec.Command("go", append([]string{"list"}, args...)...).Output()
	require.NoError(t, err)
	return strings.Fields(string(out))
}

// The core is importable at no cost: the standard library and nothing else.
func TestDependencyBudget(t *testing.T) {
	got := goList(t, "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", module+"/projection")
	assert.Equal(t, []string{module + "/projection"}, got)
}

// Which version of structured-merge-diff there is depends on the version of client-go, so that no package here may name
// one, nor what stands between the two.
func TestNoTypeOfStructuredMergeDiffIsNamed(t *testing.T) {
	for _, name := range []string{"", "/builtin", "/openapi", "/internal/typed"} {
		imports := goList(t, "-f", `{{join .Imports "\n"}}`, module+"/projection"+name)
		require.NotEmpty(t, imports)
		for _, path := range imports {
			assert.NotContains(t, path, "structured-merge-diff", name)
			assert.NotContains(t, path, "kube-openapi", name)
		}
	}
}
