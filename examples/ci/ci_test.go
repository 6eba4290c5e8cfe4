// Package ci_test runs the recipes as the runners of the forges do, on a real API server.
package ci_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/ssaplan/primitives/test/lab"
)

// runner runs scripts in a folder of its own, with the program in PATH.
type runner struct {
	*lab.Cluster
	t       *testing.T
	folder  string
	environ []string
}

func newRunner(t *testing.T) *runner {
	t.Helper()
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("NOT RUN: there is no bash")
	}
	programs := filepath.Dir(lab.Program(t, "../kubectl-ssaplan"))
	c := lab.New(t)
	return &runner{c, t, t.TempDir(), append(os.Environ(), "PATH="+programs+":"+os.Getenv("PATH"), "KUBECONFIG="+c.Server.Kubeconfig())}
}

func (r *runner) write(name, text string) string {
	path := filepath.Join(r.folder, name)
	require.NoError(r.t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(r.t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func (r *runner) read(name string) string {
	text, err := os.ReadFile(filepath.Join(r.folder, name))
	require.NoError(r.t, err)
	return string(text)
}

// run runs a script, and returns whether it succeeded and what it printed.
func (r *runner) run(script string, environ ...string) (bool, string) {
	command := exec.Command("bash", "--noprofile", "--norc", "-e", "-o", "pipefail", r.write("script", script))
	command.Dir, command.Env = r.folder, append(r.environ, environ...)
	out, err := command.CombinedOutput()
	return err == nil, string(out)
}

func parse(t *testing.T, file string, into any) {
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NoError(t, yaml.UnmarshalStrict(text, into))
}

type step struct {
	ID, Shell, Run string
	Env            map[string]string
}

// plan runs the step of the action with inputs, given the file that the runner reads outputs from.
func (r *runner) plan(inputs map[string]string) (ok bool, log, outputs, summary string) {
	var action struct {
		Name, Description string
		Inputs, Outputs   map[string]map[string]any
		Runs              struct {
			Using string
			Steps []step
		}
	}
	parse(r.t, "action.yml", &action)
	require.Equal(r.t, "composite", action.Runs.Using)
	require.Len(r.t, action.Runs.Steps, 1)
	s := action.Runs.Steps[0]
	require.NotContains(r.t, s.Run, "${{", "an input in a command can be a command")
	environ := []string{"GITHUB_OUTPUT=" + r.write("output", ""), "GITHUB_STEP_SUMMARY=" + r.write("summary", "")}
	for name, value := range s.Env {
		input := strings.TrimSuffix(strings.TrimPrefix(value, "${{ inputs."), " }}")
		given, found := inputs[input]
		if !found {
			given, _ = action.Inputs[input]["default"].(string)
		}
		environ = append(environ, name+"="+given)
	}
	ok, log = r.run(s.Run, environ...)
	return ok, log, r.read("output"), r.read("summary")
}

func TestActionPlansAndSavesThePlan(t *testing.T) {
	r := newRunner(t)
	r.write("manifests/app/a.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, annotations: {a: '::error::no'}}\ndata: {a: x}\n")
	inputs := map[string]string{"manifests": "manifests", "kubeconfig": r.Server.Kubeconfig(), "namespace": r.Namespace}
	ok, log, outputs, summary := r.plan(inputs)
	require.True(t, ok, log)
	assert.Contains(t, summary, "**Plan:** 1 to create.")
	assert.Contains(t, outputs, "changed=true\ndigest=sha256:")
	assert.Contains(t, r.read("ssaplan/plan.html"), "<!DOCTYPE html>")
	assert.True(t, json.Valid([]byte(r.read("ssaplan/plan.json"))))
	digest := strings.TrimSpace(strings.Split(outputs, "digest=")[1])
	ok, log = r.run("kubectl-ssaplan apply --plan ssaplan/saved.plan --digest " + digest)
	require.True(t, ok, log)
	ok, log, outputs, _ = r.plan(inputs)
	require.True(t, ok, log)
	assert.Contains(t, outputs, "changed=false\n")
}

// Inputs and what the program prints are no commands, neither of the shell nor of the runner; and errors are errors.
func TestActionTakesNothingForACommand(t *testing.T) {
	r := newRunner(t)
	r.write("x; touch hacked/$(touch hacked).yaml", "kind: \"::set-output name=a::b\"\n")
	ok, log, outputs, _ := r.plan(map[string]string{"manifests": ".", "kubeconfig": r.Server.Kubeconfig(), "namespace": "$(touch hacked)"})
	assert.False(t, ok, log)
	assert.Empty(t, outputs)
	assert.NoFileExists(t, filepath.Join(r.folder, "hacked"))
	lines := strings.Split(strings.TrimSpace(log), "\n")
	token, stopped := strings.CutPrefix(lines[0], "::stop-commands::")
	require.True(t, stopped, log)
	require.Equal(t, "::"+token+"::", lines[len(lines)-1], "nothing is printed that isn't between")
}

func TestGitLabPlansAndApplies(t *testing.T) {
	r := newRunner(t)
	var template map[string]any
	parse(t, "gitlab.yml", &template)
	script := func(job string) string {
		return template[job].(map[string]any)["script"].([]any)[0].(string)
	}
	artifacts := template["ssaplan-plan"].(map[string]any)["artifacts"].(map[string]any)
	assert.Equal(t, false, artifacts["public"])
	r.write("manifests/a.yaml", "apiVersion: v1\nkind: Secret\nmetadata: {name: a, namespace: "+r.Namespace+"}\nstringData: {a: c4n4ry}\n")
	if _, err := exec.LookPath("jq"); err != nil {
		t.Skip("NOT RUN: there is no jq")
	}
	ok, log := r.run(script("ssaplan-plan"), "MANIFESTS=manifests")
	require.True(t, ok, log)
	assert.JSONEq(t, `{"create": 1, "update": 0, "delete": 0}`, r.read("counts.json"))
	for _, file := range []string{"saved.plan", "plan.html", "plan.json"} {
		assert.NotContains(t, r.read(file), "c4n4ry", file)
	}
	digest := strings.TrimSpace(r.read("digest.env"))
	ok, log = r.run(script("ssaplan-apply"), "MANIFESTS=manifests", digest)
	require.True(t, ok, log)
	ok, log = r.run(script("ssaplan-apply"), "MANIFESTS=manifests", digest)
	assert.False(t, ok, "the same plan once more")
	assert.Contains(t, log, "not as it was reviewed")
}
