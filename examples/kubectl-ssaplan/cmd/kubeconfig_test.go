package cmd_test

import (
	"encoding/json"
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
	write(t, map[string]string{
		"app.yaml":   configMap("a", "x"),
		"good":       goodKubeconfig,
		"empty":      "",
		"text":       "c4n4ry",
		"list":       "- c4n4ry\n",
		"alias":      "users:\n- name: a\n  user:\n    token: *c4n4ry\n",
		"open":       "users:\n- name: a\n  user:\n    token: \"c4n4ry\n",
		"types":      "apiVersion: v1\nkind: Config\nusers:\n- name: a\n  user:\n    token: [c4n4ry]\n",
		"base64":     "apiVersion: v1\nkind: Config\nclusters:\n- name: a\n  cluster:\n    certificate-authority-data: \"%c4n4ry\"\n",
		"number":     "users:\n- name: a\n- user:\n    password: 271828\n",
		"boolean":    "clusters: [{cluster: {insecure-skip-tls-verify: \"c4n4ry\"}}]\n",
		"no-list":    "contexts: {a: c4n4ry}\n",
		"no-map":     "users: [{user: {exec: c4n4ry}}]\n",
		"provider":   "users: [{user: {auth-provider: {name: x, config: {a: b, token: [c4n4ry]}}}}]\n",
		"bytes":      "users: [{user: {client-key-data: 271828}}]\n",
		"kind":       "apiVersion: v1\nkind: Secret\ndata: {a: c4n4ry}\n",
		"no-context": "apiVersion: v1\nkind: Config\nclusters: [{name: a, cluster: {server: x}}]\ncontexts: [{name: b, context: {cluster: a}}]\n",
	})
	const next = "; correct the file, or name another one with --kubeconfig"
	tests := []struct {
		file, context string
		want          string
	}{
		{"missing", "", "kubeconfig missing: there is no such file; check the path after --kubeconfig"},
		{".", "", "kubeconfig .: can't be read: is a directory"},
		{"empty", "", "kubeconfig empty: no cluster is configured there; name a file with --kubeconfig or KUBECONFIG, or a cluster with --server"},
		{"text", "", "kubeconfig text: is no kubeconfig" + next},
		{"list", "", "kubeconfig list: is no kubeconfig" + next},
		{"alias", "", "kubeconfig alias: refers with * to an anchor that it doesn't define; put the value into quotes if it is no alias" + next},
		{"open", "", "kubeconfig open: line 5: not valid YAML: found unexpected end of stream" + next},
		{"types", "", "kubeconfig types: users[0].user.token: has to be a string" + next},
		{"base64", "", "kubeconfig base64: clusters[0].cluster.certificate-authority-data: has to be base64" + next},
		{"number", "", "kubeconfig number: users[1].user.password: has to be a string" + next},
		{"boolean", "", "kubeconfig boolean: clusters[0].cluster.insecure-skip-tls-verify: has to be true or false" + next},
		{"no-list", "", "kubeconfig no-list: contexts: has to be a list" + next},
		{"no-map", "", "kubeconfig no-map: users[0].user.exec: has to be a map" + next},
		{"provider", "", "kubeconfig provider: users[0].user.auth-provider.config.token: has to be a string" + next},
		{"bytes", "", "kubeconfig bytes: users[0].user.client-key-data: has to be base64" + next},
		{"kind", "", "kubeconfig kind: is no kubeconfig" + next},
		{"no-context", "", "kubeconfig no-context: current-context: missing; choose with --context one of: b"},
		{"good", "dev", `kubeconfig good: there is no context "dev"; choose with --context one of: lost, nobody, prod, test`},
		{"good", "lost", `kubeconfig good: context "lost": there is no cluster "west"; correct the context`},
		{"good", "nobody", `kubeconfig good: context "nobody": there is no user "you"; correct the context`},
	}
	for _, tt := range tests {
		t.Run(tt.file+tt.context, func(t *testing.T) {
			got := run(t.Context(), "", "plan", "-f", "app.yaml", "--kubeconfig", tt.file, "--context", tt.context)
			assert.Equal(t, result{1, "Plan: 1 error.\n", tt.want + "\n"}, got)
		})
	}
}

// What client-go itself refuses in a kubeconfig ends in one line with the next step, too.
func TestKubeconfigThatClientGoRefuses(t *testing.T) {
	config := func(cluster string) string {
		return "apiVersion: v1\nkind: Config\nclusters: [{name: a, cluster: {" + cluster + "}}]\n" +
			"contexts: [{name: b, context: {cluster: a}}]\ncurrent-context: b\n"
	}
	dir := write(t, map[string]string{
		"app.yaml": configMap("a", "x"), "address": config(`server: "https://[::1"`),
		"authority": config(`server: "https://x", certificate-authority: missing.crt`),
	})
	for file, want := range map[string]string{
		"address":   `client for https://[::1: host must be a URL or a host:port pair: "https://[::1"; check the kubeconfig and --server`,
		"authority": "kubeconfig authority: invalid configuration: unable to read certificate-authority " + dir + "/missing.crt for a due to open " + dir + "/missing.crt: no such file or directory",
	} {
		got := run(t.Context(), "", "plan", "-f", "app.yaml", "--kubeconfig", file)
		assert.Equal(t, result{1, "Plan: 1 error.\n", want + "\n"}, got)
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

func TestStateFileErrors(t *testing.T) {
	write(t, map[string]string{"app.yaml": configMap("a", "x"), "good": goodKubeconfig, "state.json": "c4n4ry"})
	got := run(t.Context(), "", "plan", "-f", "app.yaml", "--kubeconfig", "good", "--state", "state.json")
	want := "state file state.json: not a state file: invalid character 'c' looking for beginning of value; name another one after --state\n"
	assert.Equal(t, result{1, "Plan: 1 error.\n", want}, got)
}
