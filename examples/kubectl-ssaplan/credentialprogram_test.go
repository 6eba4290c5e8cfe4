//go:build unix

package main_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// loginConfig is a kubeconfig of a cluster and a program for credentials.
const loginConfig = `apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {%s}}]
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
`

// writer writes files into a folder, which may be run.
func writer(t *testing.T, dir string) func(name, text string) string {
	return func(name, text string) string {
		file := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(file, []byte(text), 0o700))
		return file
	}
}

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
			if why == "no kind" && args != "plan -f a.yaml" {
				continue // which of the two it is isn't the command's
			}
			t.Run(args+", "+why, func(t *testing.T) {
				dir := t.TempDir()
				write := writer(t, dir)
				login := write("login", "#!/bin/sh\necho run >>"+dir+"/runs\n"+script+"\n")
				write("a.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {a: b}\n")
				write("b.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {a: c}\n")
				kubeconfig := write("config", fmt.Sprintf(loginConfig, `server: "https://127.0.0.1:1"`, login))
				r := start(t, dir, program, kubeconfig, strings.Fields(args)...)
				require.Error(t, r.wait(t, time.Minute))
				said := r.out.String()
				require.NotContains(t, said, "opensesame")
				require.Contains(t, said, "The program for the credentials wrote 50 bytes to its standard error, which aren't shown")
				require.Contains(t, said, "run it by hand to see them")
				runs, err := os.ReadFile(filepath.Join(dir, "runs"))
				require.NoError(t, err)
				require.Equal(t, "run\n", string(runs))
			})
		}
	}
}

// If the server rejects what a program prints, client-go runs it again. If it rejects that, too, it isn't run for each
// object.
func TestRejectedCredentials(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprint(w, `{"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": "Unauthorized", "reason": "Unauthorized", "code": 401}`)
	}))
	t.Cleanup(server.Close)
	dir := t.TempDir()
	write := writer(t, dir)
	login := write("login", "#!/bin/sh\necho run >>"+dir+"/runs\n"+
		`echo '{"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": {"token": "opensesame3"}}'`+"\n")
	var objects strings.Builder
	for i := range 31 {
		fmt.Fprintf(&objects, "---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: a%d}, data: {a: b}}\n", i)
	}
	write("a.yaml", objects.String())
	kubeconfig := write("config", fmt.Sprintf(loginConfig, fmt.Sprintf("server: %q, insecure-skip-tls-verify: true", server.URL), login))
	r := start(t, dir, built(t), kubeconfig, "plan", "-f", "a.yaml")
	require.Error(t, r.wait(t, time.Minute))
	said := r.out.String()
	require.NotContains(t, said, "opensesame")
	require.Contains(t, said, "(31 objects not planned)")
	runs, err := os.ReadFile(filepath.Join(dir, "runs"))
	require.NoError(t, err)
	require.LessOrEqual(t, strings.Count(string(runs), "run"), 3)
}
