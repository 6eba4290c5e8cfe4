//go:build unix

package main_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A program for credentials that fails runs once, and nothing is shown of what it says, which has its arguments and its
// environment, but how long it is. It may fail with an exit code, or by what it prints.
func TestWordsOfCredentialPrograms(t *testing.T) {
	program := built(t)
	for _, args := range []string{
		"plan -f a.yaml", "plan -f a.yaml -o json", "apply --yes -f a.yaml", "delete --yes -f a.yaml", "release --yes -f a.yaml",
		"owners cm a", "import default/v1/ConfigMap/a", "plan -f a.yaml --applyset set --prune", "plan --from a.yaml --to b.yaml",
	} {
		for why, script := range map[string]string{
			"an exit code": `echo "bad arguments: $* $LOGIN_KEY" >&2; exit 1`,
			"no kind":      `echo "bad arguments: $* $LOGIN_KEY" >&2; echo "{\"apiVersion\": \"$*\", \"kind\": \"$LOGIN_KEY\"}"`,
		} {
			t.Run(args+", "+why, func(t *testing.T) {
				dir := t.TempDir()
				write := func(name, text string) string {
					file := filepath.Join(dir, name)
					require.NoError(t, os.WriteFile(file, []byte(text), 0o700))
					return file
				}
				login := write("login", "#!/bin/sh\necho run >>"+dir+"/runs\n"+script+"\n")
				write("a.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {a: b}\n")
				write("b.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {a: c}\n")
				kubeconfig := write("config", fmt.Sprintf(`apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "https://127.0.0.1:1"}}]
contexts: [{name: c, context: {cluster: c, user: u}}]
current-context: c
users:
- name: u
  user:
    exec:
      apiVersion: client.authentication.k8s.io/v1
      command: %s
      args: [--password, opensesame1]
      env: [{name: LOGIN_KEY, value: opensesame2}]
      interactiveMode: IfAvailable
`, login))
				r := start(t, dir, program, kubeconfig, strings.Fields(args)...)
				require.Error(t, r.wait(t, time.Minute))
				said := r.out.String()
				require.NotContains(t, said, "opensesame")
				require.Contains(t, said, "The program for the credentials wrote 50 bytes to its standard error, which aren't shown")
				runs, err := os.ReadFile(filepath.Join(dir, "runs"))
				require.NoError(t, err)
				require.Equal(t, "run\n", string(runs))
			})
		}
	}
}
