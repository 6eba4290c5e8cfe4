package docs_test

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// program returns the complete program of the README, as it stands there.
func program() string {
	text := string(must(os.ReadFile("../../README.md")))
	_, text, _ = strings.Cut(text, "\n```go\npackage main\n")
	text, _, _ = strings.Cut(text, "\n```\n")
	return "package main\n" + text + "\n"
}

// The program of the README is compiled and run.
func Example_readme() {
	dir := must(os.MkdirTemp("", "readme"))
	defer os.RemoveAll(dir)
	source, app := filepath.Join(dir, "main.go"), filepath.Join(dir, "app.yaml")
	must(0, os.WriteFile(source, []byte(program()), 0o600))
	binary := compiled(source)
	const web = `{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: readme}, spec: {replicas: 3, selector: {matchLabels: {app: web}},
		template: {metadata: {labels: {app: web}}, spec: {containers: [{name: web, image: "web:1"}]}}}}`
	must(0, os.WriteFile(app, []byte(web), 0o600))
	deployments := objects("readme", "apps", "v1", "deployments")
	apply(deployments, "my-tool", yamlObject(web))
	patch(deployments, "kubectl", "web", `{"spec": {"replicas": 7}}`, "scale")
	run(binary, app, "apply")
	run(binary, app)
	// Output:
	// Update apps/v1/Deployment readme/web: 1 drifted
	//    spec.replicas: 7 -> 3 (drifted: changed by "kubectl" (Update of scale))
	// NoOp apps/v1/Deployment readme/web: the server would write nothing
}

// The first page stays short, and so does every other one that people read.
func TestPagesAreShort(t *testing.T) {
	limits := map[string]int{"README.md": 150, "CHANGELOG.md": 100, "CONTRIBUTING.md": 110}
	list := exec.Command("git", "ls-files", "*.md", ":!*/testdata/*")
	list.Dir = "../.."
	tracked, err := list.Output()
	require.NoError(t, err)
	pages := strings.Fields(string(tracked))
	assert.Subset(t, pages, []string{"README.md", "CHANGELOG.md", "CONTRIBUTING.md", "docs/cli.md", "examples/kubectl-ssaplan/README.md"})
	for _, page := range pages {
		limit := limits[page]
		if limit == 0 {
			limit = 250
		}
		lines := strings.Count(read(t, "../../"+page), "\n")
		assert.LessOrEqual(t, lines, limit, page)
	}
}

var (
	namedTest    = regexp.MustCompile("`(Test[A-Z][A-Za-z]*)")
	declaredTest = regexp.MustCompile(`(?m)^func (Test[A-Z][A-Za-z]*)\(`)
	namedFile    = regexp.MustCompile("`([A-Za-z_/0-9]+\\.go)`")
	namedIn      = regexp.MustCompile("`([A-Za-z]+)` (?:in |\\()`([A-Za-z_/0-9]+\\.go)`")
)

// The files and the tests that CONTRIBUTING.md names exist, and the files declare what it says. A file without a folder
// is in a folder that is named before it, and the name of a test may be how several begin.
func TestContributingNamesWhatExists(t *testing.T) {
	list := exec.Command("git", "ls-files", "*.go")
	list.Dir = "../.."
	tracked, err := list.Output()
	require.NoError(t, err)
	files, tests := map[string]string{}, "\n" // the text of each file, or of all with a name
	for _, file := range strings.Fields(string(tracked)) {
		text, err := os.ReadFile("../../" + file)
		if errors.Is(err, fs.ErrNotExist) {
			continue // it is being removed
		}
		require.NoError(t, err)
		files[file] += string(text)
		files[filepath.Base(file)] += string(text)
		for _, match := range declaredTest.FindAllStringSubmatch(string(text), -1) {
			tests += match[1] + "\n"
		}
	}
	page := strings.ReplaceAll(read(t, "../../CONTRIBUTING.md"), "`CMD/", "`examples/kubectl-ssaplan/")
	found := namedTest.FindAllStringSubmatch(page, -1)
	require.Greater(t, len(found), 10)
	for _, match := range found {
		require.True(t, strings.Contains(tests, "\n"+match[1]), "CONTRIBUTING.md names %s, which doesn't exist", match[1])
	}
	for _, match := range namedFile.FindAllStringSubmatch(page, -1) {
		require.NotZero(t, len(files[match[1]]), "CONTRIBUTING.md names %s, which doesn't exist", match[1])
	}
	for _, match := range namedIn.FindAllStringSubmatch(page, -1) {
		is := regexp.MustCompile(`(?m)^(?:func (?:\([^)]*\) )?|type |var |const )` + match[1] + `\b`)
		require.True(t, is.MatchString(files[match[2]]), "CONTRIBUTING.md: %s isn't declared in %s", match[1], match[2])
	}
}
