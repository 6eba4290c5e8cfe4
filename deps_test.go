package primitives_test

import (
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const module = "github.com/ssaplan/primitives"

// A budget says what a package may depend on, directly or not, beside the standard library and itself. Who takes one
// package gets nothing else into the program.
type budget struct {
	ours    []string // packages of this module
	modules []string // of others; also those whose path goes on with another folder, as major versions do
	heavy   []string // folders that it may have although they are heavy
}

// planner is the budget of the Planner: no package of client-go, and neither a transport nor a decoder nor discovery.
// These come with the client that a program chooses.
var planner = budget{
	ours: []string{
		"ssaplan/explain", "ssaplan/deletion", "ssaplan/redact", "ssaplan/release",
		"projection", "projection/foreign", "identity", "identity/importid", "immutability", "authresilience", "fieldowner",
		"internal/clock", "internal/cached", "internal/turn", "internal/kinds", "internal/managedfields", "internal/plainjson", "internal/answer",
		"ssaplan/internal/wire", "ssaplan/internal/native", "ssaplan/internal/warnings", "ssaplan/server",
		"ssaplan/internal/precondition", "ssaplan/internal/liveobject", "ssaplan/internal/passwords",
		"ssaplan/internal/fastjson", "ssaplan/internal/secrecy", "ssaplan/internal/stretch", "ssaplan/internal/objectset", "ssaplan/internal/ordered",
		"ssaplan/internal/recent", "ssaplan/internal/noop", "ssaplan/internal/deleter", "ssaplan/internal/scale",
		"ssaplan/internal/trialcreate", "ssaplan/internal/applier", "ssaplan/internal/handover", "ssaplan/write",
		"immutability/internal/transition",
	},
	modules: apimachinery,
}

// clients is the budget of the clients of package server that are made with client-go.
var clients = budget{
	ours: []string{
		"projection", "projection/foreign", "identity", "authresilience", "fieldowner", "internal/kinds", "internal/managedfields", "internal/plainjson",
		"internal/answer", "ssaplan/server", "ssaplan/internal/warnings", "ssaplan/internal/native", "internal/turn",
		"ssaplan/internal/discovery",
	},
	modules: slices.Concat(clientGo, []string{"github.com/google/go-cmp"}),
	heavy:   []string{"k8s.io/client-go/dynamic"},
}

var budgets = map[string]budget{
	"projection/foreign": {},
	"projection":         {ours: []string{"projection/foreign", "internal/kinds", "internal/managedfields", "internal/plainjson"}},
	"identity":           {ours: []string{"projection", "projection/foreign", "internal/kinds", "internal/managedfields", "internal/plainjson"}},
	"immutability": {
		ours:    []string{"projection", "projection/foreign", "identity", "internal/kinds", "internal/managedfields", "internal/plainjson", "internal/answer", "immutability/internal/transition"},
		modules: apimachinery,
	},
	"authresilience":            {ours: []string{"internal/answer", "projection/foreign"}, modules: apimachinery},
	"authresilience/restconfig": {ours: []string{"authresilience", "internal/answer", "projection/foreign"}, modules: clientGo},
	"fieldowner":                {ours: []string{"projection", "projection/foreign", "internal/kinds", "internal/managedfields", "internal/plainjson", "internal/answer"}, modules: apimachinery},
	"projection/builtin": {
		ours:    []string{"projection", "projection/foreign", "projection/internal/typed", "internal/kinds", "internal/managedfields", "internal/plainjson"},
		modules: slices.Concat(clientGo, api, []string{"github.com/pkg/errors", "gopkg.in/evanphx/json-patch.v4"}),
	},
	"projection/openapi": {
		ours:    []string{"internal/clock", "internal/cached", "internal/turn", "projection", "projection/foreign", "projection/internal/typed", "internal/kinds", "internal/managedfields", "internal/plainjson"},
		modules: slices.Concat(clientGo, api),
	},
	"ssaplan/explain": {
		ours: []string{
			"projection", "projection/foreign", "identity", "authresilience", "fieldowner", "internal/kinds", "internal/managedfields", "internal/plainjson", "internal/answer",
			"ssaplan/internal/fastjson", "ssaplan/internal/stretch",
		},
		modules: apimachinery,
	},
	"identity/importid": {
		ours:    []string{"fieldowner", "identity", "projection", "projection/foreign", "internal/kinds", "internal/managedfields", "internal/plainjson", "internal/answer"},
		modules: apimachinery,
	},
	"ssaplan/manifest": {
		ours: []string{
			"identity", "projection", "projection/foreign", "internal/kinds", "internal/managedfields", "internal/plainjson",
			"ssaplan/internal/fastjson",
		},
		modules: apimachinery,
	},
	"ssaplan/write": {ours: []string{"projection", "projection/foreign", "identity", "internal/kinds", "internal/managedfields", "internal/plainjson"}},
	"ssaplan/deletion": {
		ours: []string{
			"ssaplan/write", "projection", "projection/foreign", "identity", "immutability", "fieldowner", "internal/kinds", "internal/managedfields",
			"internal/plainjson", "internal/answer", "immutability/internal/transition",
		},
		modules: apimachinery,
	},
	"ssaplan/redact": {
		ours: []string{
			"projection", "projection/foreign", "identity", "immutability", "authresilience", "internal/kinds", "internal/managedfields", "internal/plainjson",
			"internal/answer", "immutability/internal/transition", "ssaplan/internal/fastjson", "ssaplan/internal/secrecy",
		},
		modules: apimachinery,
	},
	"ssaplan/release": {
		ours: []string{
			"ssaplan/explain", "ssaplan/write", "projection", "projection/foreign", "identity", "immutability", "authresilience", "fieldowner",
			"internal/clock", "internal/kinds", "internal/managedfields", "internal/plainjson", "internal/answer", "immutability/internal/transition",
			"ssaplan/internal/applier", "ssaplan/internal/precondition", "ssaplan/internal/warnings", "ssaplan/internal/fastjson",
			"ssaplan/internal/secrecy", "ssaplan/internal/stretch", "ssaplan/redact",
		},
		modules: apimachinery,
	},
	"ssaplan": planner,
	"ssaplan/server": {
		ours: []string{
			"authresilience", "identity", "projection", "projection/foreign", "internal/kinds", "internal/managedfields", "internal/plainjson", "internal/answer",
			"ssaplan/internal/warnings",
		},
		modules: apimachinery,
	},
	"ssaplan/dynclient": clients,
	"ssaplan/client": {
		ours: append([]string{
			"authresilience/restconfig", "internal/clock", "ssaplan/internal/fastjson", "ssaplan/client/internal/jsondoc",
			"ssaplan/client/internal/fieldscache",
		}, clients.ours...),
		modules: clients.modules, heavy: clients.heavy,
	},
	"ssaplan/review": {ours: append([]string{"ssaplan"}, planner.ours...), modules: planner.modules},
	"ssaplan/set":    {ours: append([]string{"ssaplan"}, planner.ours...), modules: planner.modules},
}

// What Kubernetes brings along, in one supported version of client-go or another.
var (
	apimachinery = []string{
		"k8s.io/apimachinery", "k8s.io/klog", "k8s.io/kube-openapi", "k8s.io/utils", "sigs.k8s.io/json", "sigs.k8s.io/randfill",
		"sigs.k8s.io/structured-merge-diff", "sigs.k8s.io/yaml", "github.com/fxamacker/cbor", "github.com/go-logr/logr",
		"github.com/gogo/protobuf", "github.com/json-iterator/go", "github.com/modern-go/concurrent", "github.com/modern-go/reflect2",
		"github.com/x448/float16", "go.yaml.in/yaml", "golang.org/x/net", "golang.org/x/text", "gopkg.in/inf.v0",
	}
	clientGo = slices.Concat(apimachinery, []string{
		"k8s.io/client-go", "github.com/davecgh/go-spew", "github.com/emicklei/go-restful",
		"github.com/go-openapi/jsonpointer", "github.com/go-openapi/jsonreference", "github.com/go-openapi/swag",
		"github.com/google/gnostic-models", "github.com/google/uuid", "github.com/josharian/intern", "github.com/mailru/easyjson",
		"github.com/munnerz/goautoneg", "golang.org/x/oauth2", "golang.org/x/sys", "golang.org/x/term", "golang.org/x/time",
		"google.golang.org/protobuf", "gopkg.in/yaml.v3",
	})
	// The types of all kinds make a program 30 MB larger and its garbage collections several times as expensive.
	api = []string{"k8s.io/api"}
)

// The folders of client-go that are heavy, and those in them that aren't.
var (
	heavy = []string{
		"k8s.io/client-go/dynamic", "k8s.io/client-go/informers", "k8s.io/client-go/kubernetes", "k8s.io/client-go/listers",
		"k8s.io/client-go/tools",
	}
	light = []string{"k8s.io/client-go/kubernetes/scheme", "k8s.io/client-go/tools/clientcmd/api", "k8s.io/client-go/tools/metrics"}
)

// allows reports whether a package of a module is within the budget.
func (b budget) allows(path, from string) bool {
	if from == module {
		return slices.Contains(b.ours, strings.TrimPrefix(path, module+"/"))
	}
	return within(from, b.modules) && (!within(path, heavy) || within(path, light) || within(path, b.heavy))
}

func TestDependencyBudgets(t *testing.T) {
	for name, budget := range budgets {
		self := module + "/" + name
		deps := list(t, "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}={{.Module.Path}}{{end}}", self)
		require.Contains(t, deps, self+"="+module)
		for _, dep := range deps {
			path, from, _ := strings.Cut(dep, "=")
			assert.True(t, path == self || budget.allows(path, from), "%s depends on %s", name, path)
		}
	}
}

func TestBudgetsRefuse(t *testing.T) {
	for _, row := range []struct{ name, path, from string }{
		{"projection", "k8s.io/apimachinery/pkg/types", "k8s.io/apimachinery"},
		{"identity", "sigs.k8s.io/yaml", "sigs.k8s.io/yaml"},
		{"identity", module + "/fieldowner", module},
		{"immutability", module + "/fieldowner", module},
		{"immutability", "k8s.io/client-go/rest", "k8s.io/client-go"},
		{"immutability", "github.com/google/uuid", "github.com/google/uuid"},
		{"authresilience", "k8s.io/client-go/rest", "k8s.io/client-go"},
		{"authresilience/restconfig", "k8s.io/client-go/dynamic", "k8s.io/client-go"},
		{"ssaplan", "k8s.io/client-go/rest", "k8s.io/client-go"},
		{"ssaplan", module + "/ssaplan/client", module},
		{"ssaplan", module + "/ssaplan/client/internal/jsondoc", module},
		{"ssaplan", module + "/ssaplan/internal/discovery", module},
		{"ssaplan/set", "k8s.io/client-go/rest", "k8s.io/client-go"},
		{"ssaplan/client", "k8s.io/client-go/tools/clientcmd", "k8s.io/client-go"},
		{"ssaplan/client", "k8s.io/client-go/tools/cache/synctrack", "k8s.io/client-go"},
		{"ssaplan/client", module + "/ssaplan/internal/wire", module},
		{"ssaplan", "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions", "k8s.io/apiextensions-apiserver"},
		{"ssaplan/explain", "k8s.io/client-go/rest", "k8s.io/client-go"},
		{"ssaplan/explain", module + "/ssaplan/internal/wire", module},
		{"ssaplan/explain", module + "/immutability", module},
		{"ssaplan/deletion", module + "/ssaplan/internal/wire", module},
		{"ssaplan/release", module + "/ssaplan/internal/wire", module},
		{"ssaplan/deletion", "k8s.io/client-go/rest", "k8s.io/client-go"},
		{"ssaplan", "github.com/stretchr/testify/assert", "github.com/stretchr/testify"},
		{"ssaplan", module + "/ssaplan/ssaplantest", module},
		{"ssaplan", module + "/ssaplan/dynclient", module},
		{"ssaplan/server", "k8s.io/client-go/rest", "k8s.io/client-go"},
	} {
		assert.False(t, budgets[row.name].allows(row.path, row.from), "%s: %s", row.name, row.path)
	}
}

// docs/compatibility.md says how many packages a program has, with a clientset, with the Planner and with both.
// Packages of the standard library aren't counted: their number depends on the version of Go. make compat runs this
// test with another go.mod in GOFLAGS, and the page is about the lowest client-go.
func TestPackagesOfProgramsAreCounted(t *testing.T) {
	t.Setenv("GOFLAGS", "")
	page := read(t, "docs/compatibility.md")
	kubeconfig, clientset := "k8s.io/client-go/tools/clientcmd", "k8s.io/client-go/kubernetes"
	count := func(packages ...string) string {
		others := list(t, append([]string{"-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}"}, packages...)...)
		return strconv.Itoa(len(others) + 1) // and the program
	}
	assert.Equal(t, count(kubeconfig, clientset), find(t, page, `(?m)^\| packages[^|]*\| (\d+) \|`), "without")
	assert.Equal(t, count(kubeconfig, clientset, module+"/ssaplan", module+"/ssaplan/client"),
		find(t, page, `(?m)^\| packages[^|]*\| \d+ \| (\d+) \|`), "with")
	readme := []string{kubeconfig}
	for _, match := range regexp.MustCompile(`(?m)^\t"(`+module+`[^"]*)"$`).FindAllStringSubmatch(read(t, "README.md"), -1) {
		readme = append(readme, match[1])
	}
	assert.Equal(t, count(readme...), find(t, page, `\bhas\s+(\d+)\s+packages\s+that`), "the program of the README")
}

// unstable are the modules whose major version is another one from one client-go to the next: a package that names a
// type of theirs works with one client-go only.
var unstable = []string{"sigs.k8s.io/structured-merge-diff", "k8s.io/kube-openapi"}

func TestNoPackageImportsAnUnstableModule(t *testing.T) {
	for _, line := range list(t, "-f", `{{.ImportPath}}:{{join .Imports ","}}`, module+"/...") {
		name, imports, _ := strings.Cut(line, ":")
		for _, path := range strings.Split(imports, ",") {
			assert.False(t, within(path, unstable), "%s imports %s", name, path)
		}
	}
}

func TestEveryPackageHasABudget(t *testing.T) {
	for _, path := range public(t) {
		name := strings.TrimPrefix(strings.TrimPrefix(path, module), "/")
		if name == "" || name == "ssaplan/ssaplantest" || name == "ssaplan/server/servertest" { // the last two are for tests
			continue
		}
		assert.Contains(t, budgets, name)
	}
}

// public returns the packages of this module that others can import.
func public(t *testing.T) []string {
	t.Helper()
	all := publicIn(t, ".")
	require.Greater(t, len(all), len(budgets))
	return all
}

// publicIn returns those of the module in a folder.
func publicIn(t *testing.T, dir string) []string {
	t.Helper()
	all := listIn(t, dir, "./...")
	require.NotEmpty(t, all)
	return slices.DeleteFunc(all, func(path string) bool { return strings.Contains(path, "/internal/") })
}

// within reports whether a package is one of some folders, or below one.
func within(path string, folders []string) bool {
	return slices.ContainsFunc(folders, func(folder string) bool { return path == folder || strings.HasPrefix(path, folder+"/") })
}

// list asks about this module by itself, whatever the workspace.
func list(t *testing.T, args ...string) []string { return listIn(t, ".", args...) }

// listIn asks about the module in a folder by itself.
func listIn(t *testing.T, dir string, args ...string) []string {
	t.Helper()
	command := exec.Command("go", append([]string{"list"}, args...)...)
	command.Dir, command.Env = dir, append(os.Environ(), "GOWORK=off")
	if dir != "." { // the file is that of this module
		command.Env = append(command.Env, "GOFLAGS="+regexp.MustCompile(`-modfile=\S+`).ReplaceAllString(os.Getenv("GOFLAGS"), ""))
	}
	out, err := command.Output()
	require.NoError(t, err)
	return strings.Fields(string(out))
}

// Users get few requirements of which something is used directly, and a new one is a decision.
func TestDirectRequirements(t *testing.T) {
	var direct []string
	for _, line := range strings.Split(find(t, read(t, "go.mod"), `(?s)require \((.*)\)`), "\n") {
		if path, version, isRequirement := strings.Cut(strings.TrimSpace(line), " "); isRequirement &&
			!strings.HasPrefix(path, ")") && !strings.HasPrefix(path, "require") && !strings.HasSuffix(version, "// indirect") {
			direct = append(direct, path)
		}
	}
	require.Equal(t, []string{"github.com/stretchr/testify", "k8s.io/apimachinery", "k8s.io/client-go",
		"sigs.k8s.io/structured-merge-diff/v4", "sigs.k8s.io/yaml"}, direct)
}
