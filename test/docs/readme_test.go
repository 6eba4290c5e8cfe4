package docs_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
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
	source, binary, app := filepath.Join(dir, "main.go"), filepath.Join(dir, "program"), filepath.Join(dir, "app.yaml")
	must(0, os.WriteFile(source, []byte(program()), 0o600))
	if out, err := exec.Command("go", "build", "-ldflags=-s -w", "-o", binary, source).CombinedOutput(); err != nil {
		fmt.Println(err, string(out))
		return
	}
	const web = `{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: readme}, spec: {replicas: 3, selector: {matchLabels: {app: web}},
		template: {metadata: {labels: {app: web}}, spec: {containers: [{name: web, image: "web:1"}]}}}}`
	must(0, os.WriteFile(app, []byte(web), 0o600))
	run := func(args ...string) {
		command := exec.Command(binary, args...)
		command.Env = append(os.Environ(), "KUBECONFIG="+server.Kubeconfig())
		out, err := command.CombinedOutput()
		fmt.Print(string(out))
		if err != nil {
			fmt.Println(err)
		}
	}
	deployments := objects("readme", "apps", "v1", "deployments")
	apply(deployments, "my-tool", yamlObject(web))
	patch(deployments, "kubectl", "web", `{"spec": {"replicas": 7}}`, "scale")
	run(app, "apply")
	run(app)
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
