package cmd_test

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const goodKubeconfig = `apiVersion: v1
kind: Config
clusters: [{name: east, cluster: {server: "https://127.0.0.1:1"}}]
users: [{name: me, user: {token: c4n4ry}}]
contexts:
- {name: prod, context: {cluster: east, user: me}}
- {name: test, context: {cluster: east, user: me}}
- {name: lost, context: {cluster: west, user: me}}
- {name: nobody, context: {cluster: east, user: you}}
current-context: prod
`

func TestKubeconfigErrors(t *testing.T) {
	const chosen = "contexts: [{name: b, context: {cluster: a}}]\ncurrent-context: b\n"
	dir := write(t, map[string]string{"app.yaml": configMap("a", "x"), "good": goodKubeconfig, "empty": ""})
	const next = "; correct the file, or name another one with --kubeconfig"
	tests := []struct {
		file, content, context string // content is written to the file, unless it is empty
		want                   string
	}{
		{"missing", "", "", "kubeconfig missing: there is no such file; check the path after --kubeconfig"},
		{".", "", "", "kubeconfig .: can't be read: is a directory"},
		{"empty", "", "", "kubeconfig empty: no cluster is configured there; name a file with --kubeconfig or KUBECONFIG, or a cluster with --server"},
		{"text", "c4n4ry", "", "kubeconfig text: is no kubeconfig" + next},
		{"list", "- c4n4ry\n", "", "kubeconfig list: is no kubeconfig" + next},
		{"alias", "users:\n- name: a\n  user:\n    token: *c4n4ry\n", "", "kubeconfig alias: refers with * to an anchor that it doesn't define; put the value into quotes if it is no alias" + next},
		{"open", "users:\n- name: a\n  user:\n    token: \"c4n4ry\n", "", "kubeconfig open: line 5: not valid YAML: found unexpected end of stream" + next},
		{"types", "apiVersion: v1\nkind: Config\nusers:\n- name: a\n  user:\n    token: [c4n4ry]\n", "", "kubeconfig types: users[0].user.token: has to be a string" + next},
		{"base64", "apiVersion: v1\nkind: Config\nclusters:\n- name: a\n  cluster:\n    certificate-authority-data: \"%c4n4ry\"\n", "", "kubeconfig base64: clusters[0].cluster.certificate-authority-data: has to be base64" + next},
		{"number", "users:\n- name: a\n- user:\n    password: 271828\n", "", "kubeconfig number: users[1].user.password: has to be a string" + next},
		{"boolean", "clusters: [{cluster: {insecure-skip-tls-verify: \"c4n4ry\"}}]\n", "", "kubeconfig boolean: clusters[0].cluster.insecure-skip-tls-verify: has to be true or false" + next},
		{"no-list", "contexts: {a: c4n4ry}\n", "", "kubeconfig no-list: contexts: has to be a list" + next},
		{"no-map", "users: [{user: {exec: c4n4ry}}]\n", "", "kubeconfig no-map: users[0].user.exec: has to be a map" + next},
		{"provider", "users: [{user: {auth-provider: {name: x, config: {a: b, token: [c4n4ry]}}}}]\n", "", "kubeconfig provider: users[0].user.auth-provider.config.token: has to be a string" + next},
		{"bytes", "users: [{user: {client-key-data: 271828}}]\n", "", "kubeconfig bytes: users[0].user.client-key-data: has to be base64" + next},
		{"kind", "apiVersion: v1\nkind: Secret\ndata: {a: c4n4ry}\n", "", "kubeconfig kind: is no kubeconfig" + next},
		{"no-context", "apiVersion: v1\nkind: Config\nclusters: [{name: a, cluster: {server: x}}]\ncontexts: [{name: b, context: {cluster: a}}]\n", "", "kubeconfig no-context: current-context: missing; choose with --context one of: b"},
		// What client-go itself refuses ends in one line with the next step, too.
		{"address", "apiVersion: v1\nkind: Config\nclusters: [{name: a, cluster: {server: \"https://[::1\"}}]\n" + chosen, "", `client for https://[::1: host must be a URL or a host:port pair: "https://[::1"; check the kubeconfig and --server`},
		{"authority", "apiVersion: v1\nkind: Config\nclusters: [{name: a, cluster: {server: \"https://x\", certificate-authority: missing.crt}}]\n" + chosen, "", "kubeconfig authority: invalid configuration: unable to read certificate-authority " + dir + "/missing.crt for a due to open " + dir + "/missing.crt: no such file or directory"},
		{"good", "", "dev", `kubeconfig good: there is no context "dev"; choose with --context one of: lost, nobody, prod, test`},
		{"good", "", "lost", `kubeconfig good: context "lost": there is no cluster "west"; correct the context`},
		{"good", "", "nobody", `kubeconfig good: context "nobody": there is no user "you"; correct the context`},
	}
	for _, tt := range tests {
		t.Run(tt.file+tt.context, func(t *testing.T) {
			if tt.content != "" {
				require.NoError(t, os.WriteFile(tt.file, []byte(tt.content), 0o600))
			}
			got := run(t.Context(), "", "plan", "-f", "app.yaml", "--kubeconfig", tt.file, "--context", tt.context)
			assert.Equal(t, result{1, "Plan: 1 error.\n", tt.want + "\n"}, got)
		})
	}
}

func TestKubeconfigOfTheEnvironment(t *testing.T) {
	write(t, map[string]string{"app.yaml": configMap("a", "x")})
	t.Setenv("KUBECONFIG", "one:two")
	got := run(t.Context(), "", "plan", "-f", "app.yaml")
	want := "kubeconfig one, two: no cluster is configured there; name a file with --kubeconfig or KUBECONFIG, or a cluster with --server\n"
	assert.Equal(t, result{1, "Plan: 1 error.\n", want}, got)
}

// A failure before the first object is part of the JSON output, as is everything that is wrong in the input.
func TestConfigurationErrorAsJSON(t *testing.T) {
	write(t, map[string]string{"app.yaml": "kind: ConfigMap\n"})
	got := run(t.Context(), "", "plan", "-f", "app.yaml", "--kubeconfig", "missing", "-o", "json")
	assert.Equal(t, 1, got.code)
	var report map[string]any
	require.NoError(t, json.Unmarshal([]byte(got.out), &report))
	assert.Equal(t, map[string]any{
		"apiVersion": "ssaplan/v1",
		"plans":      []any{},
		"errors": []any{
			map[string]any{"object": nil, "class": "Input", "message": "app.yaml: document 1 (line 1): apiVersion: missing; every object needs apiVersion, kind and metadata.name"},
			map[string]any{"object": nil, "class": "Configuration", "message": "kubeconfig missing: there is no such file; check the path after --kubeconfig"},
		},
	}, report)
}
