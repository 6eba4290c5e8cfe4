package cmd_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/test/controlplane"
)

// completed returns what a shell would offer at the end of a command line, in which the last word is in the making.
func completed(t *testing.T, words ...string) []string {
	t.Helper()
	got := run(t.Context(), "", append([]string{"__complete"}, words...)...)
	require.Equal(t, 0, got.code, got.err)
	lines := strings.Split(strings.TrimSpace(got.out), "\n")
	var offers []string
	for _, line := range lines[:len(lines)-1] { // the last is a number for the script
		value, _, _ := strings.Cut(line, "\t")
		offers = append(offers, value)
	}
	return offers
}

func TestCompletion(t *testing.T) {
	write(t, map[string]string{"config": goodKubeconfig})
	for line, want := range map[string][]string{
		"":                                      {"apply", "completion", "delete", "explain", "help", "import", "man", "owners", "plan", "release", "show", "version"},
		"pl":                                    {"plan"},
		"plan -o ":                              {"text", "json", "yaml", "jsonl", "markdown", "html", "diff"},
		"apply --output=m":                      {"markdown"},
		"owners x -o ":                          {"text", "json", "yaml"},
		"import -o ":                            {"yaml", "json"},
		"explain -o j":                          {"json"},
		"plan -f ":                              {"json", "yaml", "yml"}, // extensions of files
		"plan -k ":                              nil,                     // folders
		"plan ":                                 {"merge"},
		"plan --field-manager ":                 nil,
		"plan --subresource s":                  {"status", "scale"},
		"completion ":                           {"bash", "fish", "powershell", "zsh"},
		"plan --kubeconfig config --context ":   {"lost", "nobody", "prod", "test"},
		"plan --kubeconfig config --user ":      {"me"},
		"owners --kubeconfig absent --context ": nil,
	} {
		assert.Equal(t, want, completed(t, strings.Split(line, " ")...), line)
	}
	assert.Contains(t, completed(t, "plan", "--kustom"), "--kustomize")
}

func TestCompletionOfNamespaces(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	assert.Equal(t, []string{c.Namespace}, completed(t, "plan", "--kubeconfig", c.Server.Kubeconfig(), "-n", c.Namespace))
	assert.Contains(t, completed(t, "owners", "--kubeconfig", c.Server.Kubeconfig(), "-n", "kube-"), "kube-system")
	assert.Empty(t, completed(t, "plan", "--server", "https://127.0.0.1:1", "-n", ""), "a cluster that isn't there has none")
}

// The scripts are those of this program.
func TestCompletionScripts(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		got := run(t.Context(), "", "completion", shell)
		assert.Equal(t, 0, got.code)
		assert.Contains(t, got.out, "kubectl-ssaplan", shell)
	}
	assert.Equal(t, 1, run(t.Context(), "", "completion", "tcsh").code)
}

func TestCompletionScriptOfBash(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skipf("NOT RUN with a real bash: %v", err)
	}
	command := exec.Command(bash, "-n")
	command.Stdin = strings.NewReader(run(t.Context(), "", "completion", "bash").out)
	out, err := command.CombinedOutput()
	assert.NoError(t, err, string(out))
}

// kubectl completes the arguments of the plugin with the script that the help of completion describes.
func TestCompletionByKubectl(t *testing.T) {
	dir := write(t, nil)
	self, err := os.Executable()
	require.NoError(t, err)
	require.NoError(t, os.Symlink(self, program))
	script := "#!/bin/sh\nexec kubectl-ssaplan __complete \"$@\"\n"
	require.NoError(t, os.WriteFile("kubectl_complete-ssaplan", []byte(script), 0o755))
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	out, err := exec.Command(controlplane.Shared(t).Bin("kubectl"), "__complete", "ssaplan", "plan", "-o", "mark").Output()
	require.NoError(t, err)
	assert.True(t, strings.HasPrefix(string(out), "markdown\n"), string(out))
}
