package primitives_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const module = "github.com/ssaplan/primitives"

// budgets says what each package may depend on, directly or not, beside the standard library and itself. Who takes one
// package gets nothing else into the program.
var budgets = map[string]struct {
	ours    []string // packages of this module
	modules []string // of Kubernetes, with what they bring; nil: nothing that isn't of the standard library
	never   []string // packages that these modules have and that are too heavy
}{
	"projection": {
		ours: []string{"internal/kinds"},
	},
	"identity": {},
	"immutability": {
		ours:    []string{"internal/apistatus"},
		modules: []string{"k8s.io/apimachinery/"},
	},
	"authresilience": {
		modules: []string{"k8s.io/apimachinery/", "k8s.io/client-go/", "k8s.io/api/"}, // the last through client-go
		never:   []string{"k8s.io/client-go/kubernetes", "k8s.io/client-go/dynamic", "k8s.io/client-go/tools/clientcmd"},
	},
	"fieldowner": {
		ours:    []string{"projection", "internal/kinds", "internal/apistatus"},
		modules: []string{"k8s.io/apimachinery/"},
	},
	"projection/builtin": {
		ours:    []string{"projection", "projection/internal/typed", "internal/kinds"},
		modules: []string{"k8s.io/apimachinery/", "k8s.io/client-go/", "k8s.io/api/"},
		never:   []string{"k8s.io/client-go/kubernetes", "k8s.io/client-go/dynamic"},
	},
	"projection/openapi": {
		ours:    []string{"projection", "projection/internal/typed", "internal/kinds"},
		modules: []string{"k8s.io/apimachinery/", "k8s.io/client-go/", "k8s.io/api/"},
		never:   []string{"k8s.io/client-go/kubernetes", "k8s.io/client-go/dynamic"},
	},
	"ssaplan": {
		ours:    []string{"projection", "identity", "immutability", "authresilience", "fieldowner", "internal/kinds", "internal/apistatus"},
		modules: []string{"k8s.io/apimachinery/", "k8s.io/client-go/", "k8s.io/api/"},
		never:   []string{"k8s.io/client-go/kubernetes", "k8s.io/client-go/tools/clientcmd"},
	},
}

func TestDependencyBudgets(t *testing.T) {
	for name, budget := range budgets {
		self := module + "/" + name
		deps := list(t, "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", self)
		require.Contains(t, deps, self)
		for _, dep := range deps {
			ours, isOurs := strings.CutPrefix(dep, module+"/")
			switch {
			case dep == self:
			case isOurs:
				assert.Contains(t, budget.ours, ours, name)
			case slices.ContainsFunc(clients, func(m string) bool { return strings.HasPrefix(dep, m) }):
				within := slices.ContainsFunc(budget.modules, func(m string) bool { return strings.HasPrefix(dep, m) })
				assert.True(t, within && !slices.Contains(budget.never, dep), "%s depends on %s", name, dep)
			default:
				assert.NotNil(t, budget.modules, "%s depends on %s", name, dep)
			}
		}
	}
}

// clients are the modules whose packages are counted one by one.
var clients = []string{"k8s.io/apimachinery/", "k8s.io/client-go/", "k8s.io/api/"}

// Which version of structured-merge-diff there is depends on the version of client-go, so no package imports it, nor what
// stands between the two: then no exported signature can name a type of theirs.
func TestNoPackageNamesTypesOfStructuredMergeDiff(t *testing.T) {
	packages := list(t, "-f", `{{.ImportPath}}:{{join .Imports ","}}`, module+"/...")
	require.Greater(t, len(packages), len(budgets))
	for _, line := range packages {
		name, imports, _ := strings.Cut(line, ":")
		for _, path := range strings.Split(imports, ",") {
			assert.NotContains(t, path, "structured-merge-diff", name)
			assert.NotContains(t, path, "kube-openapi", name)
		}
	}
}

func TestEveryPackageHasABudget(t *testing.T) {
	for _, path := range list(t, module+"/...") {
		name := strings.TrimPrefix(strings.TrimPrefix(path, module), "/")
		if name == "" || strings.Contains(name, "internal") || name == "ssaplan/ssaplantest" { // the last is for tests
			continue
		}
		assert.Contains(t, budgets, name)
	}
}

func list(t *testing.T, args ...string) []string {
	t.Helper()
	out, err := exec.Command("go", append([]string{"list"}, args...)...).Output()
	require.NoError(t, err)
	return strings.Fields(string(out))
}
