package primitives_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The pages name the versions that the tests run with, and no others.
func TestVersionsAgree(t *testing.T) {
	makefile := read(t, "Makefile")
	clients := strings.Fields(find(t, makefile, `(?m)^CLIENTS \?= (.*)$`))
	minors := strings.Fields(find(t, makefile, `(?m)^SERVERS \?= (.*)$`))
	lowest := read(t, "go.mod")
	assert.Equal(t, find(t, lowest, `k8s.io/client-go v(\S+)`), clients[0], "the module asks for the lowest client-go")

	var servers []string
	for _, minor := range minors {
		server := find(t, read(t, filepath.Join("test", "controlplane", "v"+minor, "go.mod")), `k8s.io/kubernetes v(\S+)`)
		assert.True(t, strings.HasPrefix(server, minor+"."), "v%s has %s", minor, server)
		servers = append(servers, server)
	}
	built, err := filepath.Glob("test/controlplane/v*/go.mod")
	require.NoError(t, err)
	assert.Len(t, built, len(minors), "each server that can be built is tested")

	for _, page := range []string{"README.md", "docs/compatibility.md"} {
		text := read(t, page)
		assert.Equal(t, find(t, lowest, `(?m)^go (\d+\.\d+)`), find(t, text, `(?m)^\| Go \| (\S+) or newer`), page)
		assert.Equal(t, clients, tested(t, text, "client-go and apimachinery"), page)
		assert.Equal(t, clients[0], find(t, text, `(?m)^\| client-go and apimachinery \| (\S+) or newer`), page)
		assert.Equal(t, servers, tested(t, text, "API servers"), page)
		assert.Equal(t, minors[0]+" to "+minors[len(minors)-1], find(t, text, `(?m)^\| API servers \| (\S+ to \d+\.\d+)`), page)
	}
	// make test has the other ends.
	assert.Contains(t, read(t, ".ci/run"), "make compat CLIENTS="+clients[len(clients)-1]+" SERVERS="+minors[0]+" ")
}

// On empty caches client-go takes minutes to compile, and a module that differs in one version below it compiles all of
// it again. What programs import, and what measures it, has the lowest versions, so that it changes none of theirs; all
// that are programs share one newer set.
func TestModulesShareVersions(t *testing.T) {
	makefile := read(t, "Makefile")
	modules := strings.Fields(find(t, makefile, `(?m)^MODULES := (.*)$`))
	libraries := strings.Fields(find(t, makefile, `(?m)^LIBRARIES := (.*)$`))
	benches := strings.Fields(find(t, makefile, `(?m)^BENCHES := (.*)$`))
	requirement := regexp.MustCompile(`(?m)^(?:require)?\s+(\S+) (v\S+)`)
	programs := slices.DeleteFunc(modules, func(m string) bool { return slices.Contains(libraries, m) })
	for _, set := range [][]string{slices.Concat(benches, libraries), programs} {
		versions := map[string]string{}
		for _, module := range set {
			requirements := requirement.FindAllStringSubmatch(read(t, filepath.Join(module, "go.mod")), -1)
			assert.NotEmpty(t, requirements, module)
			for _, match := range requirements {
				path, version := match[1], match[2]
				// by what readiness needs
				raised := path == "github.com/davecgh/go-spew" || path == "github.com/pmezard/go-difflib"
				if other, seen := versions[path]; seen && !raised && !strings.HasPrefix(path, "github.com/ssaplan/") {
					assert.Equal(t, other, version, "%s in %s", path, module)
				}
				versions[path] = version
			}
		}
	}
}

// The library and the modules beside it raise no version that the lowest client-go requires, so that a program on that
// client-go gets only the library and what a module needs.
func TestLibrariesRaiseNothing(t *testing.T) {
	requirement := regexp.MustCompile(`(?m)^(?:require)?\s+(\S+) (v\S+)`)
	requirements := func(text string) map[string]string {
		versions := map[string]string{}
		for _, match := range requirement.FindAllStringSubmatch(text, -1) {
			versions[match[1]] = match[2]
		}
		require.NotEmpty(t, versions)
		return versions
	}
	// make compat runs this test with another go.mod in GOFLAGS; the lowest client-go is the one in ours.
	list := exec.Command("go", "list", "-m", "-f", "{{.GoMod}}", "k8s.io/client-go")
	list.Env = append(os.Environ(), "GOFLAGS=")
	goMod, err := list.Output()
	require.NoError(t, err)
	lowest := requirements(read(t, strings.TrimSpace(string(goMod))))
	for _, module := range strings.Fields(find(t, read(t, "Makefile"), `(?m)^LIBRARIES := (.*)$`)) {
		for path, version := range requirements(read(t, filepath.Join(module, "go.mod"))) {
			if asked, found := lowest[path]; found {
				assert.Equal(t, asked, version, "%s raises %s", module, path)
			}
		}
	}
}

// A module that programs import needs no newer Go than the README says, and none of our tests: what these need would be
// in the module graph of the program.
func TestLibrariesNeedLittle(t *testing.T) {
	lowest := find(t, read(t, "go.mod"), `(?m)^go (\S+)$`)
	for _, module := range strings.Fields(find(t, read(t, "Makefile"), `(?m)^LIBRARIES := (.*)$`)) {
		text := read(t, filepath.Join(module, "go.mod"))
		assert.Equal(t, lowest, find(t, text, `(?m)^go (\S+)$`), module)
		assert.NotContains(t, text, "github.com/ssaplan/primitives/test ", module)
	}
}

// A module that programs import is found by them only in versions that are tagged, and they don't see what it replaces.
// So all require the first version of the changelog, and are tagged with it at once.
func TestModulesRequireTheComingVersion(t *testing.T) {
	coming := "v" + find(t, read(t, "CHANGELOG.md"), `(?m)^## \[(\d\S*)\]`)
	modules := strings.Fields(find(t, read(t, "Makefile"), `(?m)^MODULES := (.*)$`))
	requirement := regexp.MustCompile(`(?m)^(?:require)?\s+(github\.com/ssaplan/\S+) (v\S+)`)
	for _, module := range append(modules, strings.Fields(find(t, read(t, "Makefile"), `(?m)^BENCHES := (.*)$`))...) {
		for _, match := range requirement.FindAllStringSubmatch(read(t, filepath.Join(module, "go.mod")), -1) {
			assert.Equal(t, coming, match[2], "%s in %s", match[1], module)
			assert.Contains(t, read(t, filepath.Join(module, "go.mod")), match[1]+" => ../", module)
		}
	}
}

// Programs read a changelog of the form that it names, with these headings. A version without a date isn't released,
// and the README says so.
func TestChangelogHasItsForm(t *testing.T) {
	text := read(t, "CHANGELOG.md")
	version := regexp.MustCompile(`^\[(\d+\.\d+\.\d+)\] - (Unreleased|\d{4}-\d\d-\d\d)$`)
	headings := regexp.MustCompile(`(?m)^(##|###) (.*)$`).FindAllStringSubmatch(text, -1)
	require.NotEmpty(t, headings)
	newest := ""
	for _, heading := range headings {
		if heading[1] == "###" {
			assert.Contains(t, []string{"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}, heading[2])
			continue
		}
		if heading[2] == "[Unreleased]" { // what has no version yet
			assert.Empty(t, newest)
			continue
		}
		parts := version.FindStringSubmatch(heading[2])
		if !assert.NotNil(t, parts, heading[2]) {
			continue
		}
		assert.Contains(t, text, "\n["+parts[1]+"]: https://github.com/ssaplan/primitives/releases/tag/v"+parts[1]+"\n")
		if newest == "" {
			newest = parts[1]
			unreleased := strings.Contains(read(t, "README.md"), "Version v"+newest+" isn't released yet.")
			assert.Equal(t, parts[2] == "Unreleased", unreleased, "the README names the versions that aren't released")
		} else {
			assert.NotEqual(t, "Unreleased", parts[2], parts[1])
		}
	}
}

// The licences are listed on each system for which something is released. Two builds are compared only if the second
// finds nothing that the first compiled. Both take too long for each change, but not for each night.
func TestWhatIsReleasedIsChecked(t *testing.T) {
	var released []string
	for _, recipe := range []string{"examples/kubectl-ssaplan/release/goreleaser.yaml", "examples/terraform-provider-ssaplan/.goreleaser.yml"} {
		text := read(t, recipe)
		for _, system := range strings.Split(find(t, text, `(?m)^ +goos: \[(.*)\]$`), ", ") {
			for _, machine := range strings.Split(find(t, text, `(?m)^ +goarch: \[(.*)\]$`), ", ") {
				released = append(released, system+"/"+machine)
			}
		}
	}
	slices.Sort(released)
	makefile := read(t, "Makefile")
	assert.Equal(t, slices.Compact(released), strings.Fields(find(t, makefile, `(?m)^SYSTEMS := (.*)$`)))
	assert.Contains(t, find(t, makefile, `(?s)\nreproducible:(.*?)\n\n`), "GOCACHE=$(TWICE)/$$d/")
	for _, target := range []string{"licenses", "reproducible"} {
		assert.Contains(t, read(t, ".github/workflows/nightly.yml"), "- run: make "+target+"\n")
	}
}

// tested returns the versions that the row of a table calls tested.
func tested(t *testing.T, page, row string) []string {
	t.Helper()
	return strings.FieldsFunc(find(t, page, `(?m)^\| `+row+` \|.* tested with (.*) \|$`), func(r rune) bool {
		return !strings.ContainsRune("0123456789.", r)
	})
}

// find returns the part of the text that the pattern's group matches.
func find(t *testing.T, text, pattern string) string {
	t.Helper()
	match := regexp.MustCompile(pattern).FindStringSubmatch(text)
	require.NotNil(t, match, "nothing matches %s", pattern)
	return match[1]
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(text)
}
