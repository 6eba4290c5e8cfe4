package cmd_test

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
)

// contexts writes a kubeconfig with three contexts: two of namespaces of the server, and one of a server that isn't
// there.
func contexts(t *testing.T, blue, green *cluster) (file string) {
	config, err := clientcmd.LoadFromFile(blue.Server.Kubeconfig())
	require.NoError(t, err)
	usual := config.Contexts[config.CurrentContext]
	config.Clusters["gone"] = &api.Cluster{Server: "https://127.0.0.1:1"}
	config.Contexts = map[string]*api.Context{
		"blue":  {Cluster: usual.Cluster, AuthInfo: usual.AuthInfo, Namespace: blue.Namespace},
		"green": {Cluster: usual.Cluster, AuthInfo: usual.AuthInfo, Namespace: green.Namespace},
		"off":   {Cluster: "gone", AuthInfo: usual.AuthInfo},
	}
	config.CurrentContext = "off"
	require.NoError(t, clientcmd.WriteToFile(*config, blue.path("kubeconfig")))
	return "kubeconfig"
}

// TestSeveralContexts plans the same manifests for three contexts. Two contexts have a namespace of their own in place
// of a cluster, and one of these has the objects already. The server of the third can't be reached.
func TestSeveralContexts(t *testing.T) {
	t.Parallel()
	blue, green := newCluster(t), newCluster(t)
	blue.overwrite("app.yaml", configMap("a", "x"))
	green.overwrite("app.yaml", configMap("a", "x"))
	green.apply("-f app.yaml")
	file := contexts(t, blue, green)
	plan := func(stdin string, args ...string) result {
		got := blue.command(t.Context(), stdin, append([]string{"plan", "--kubeconfig", file}, args...)...)
		got.out = strings.NewReplacer(blue.Namespace, "BLUE", green.Namespace, "GREEN").Replace(got.out)
		return got
	}
	both := "+ v1/ConfigMap BLUE/a  create with 1 field\n\nPlan: 1 to create.\n\nPlan: 1 unchanged.\n\n"
	got := plan(blue.read("app.yaml"), "-f", "-", "--contexts", "blue,green")
	assert.Equal(t, result{2, both + "By cluster:\n  blue: 1 to create\n  green: 1 unchanged\n", ""}, got, "standard input is read once")

	got = plan("", "-f", "app.yaml", "--contexts", "*")
	assert.Equal(t, 1, got.code, "an error outweighs the rest")
	assert.Equal(t, both+"Plan: 1 error.\n\nBy cluster:\n  blue: 1 to create\n  green: 1 unchanged\n  off: 1 error\n", got.out)
	assert.Regexp(t, "^context \"off\":\ncluster https://127.0.0.1:1: ", got.err)

	got = plan("", "-f", "app.yaml", "--contexts", "blue,green", "-o", "json")
	assert.Equal(t, 2, got.code)
	assert.Equal(t, "By cluster:\n  blue: 1 to create\n  green: 1 unchanged\n", got.err, "apart from what a program reads")
	var names []string
	documents := json.NewDecoder(strings.NewReader(got.out))
	for {
		var document json.RawMessage
		err := documents.Decode(&document)
		if err == io.EOF {
			break
		}
		require.NoError(t, err)
		fitsSchema(t, string(document))
		var head struct {
			Target struct{ Context, Namespace string }
		}
		require.NoError(t, json.Unmarshal(document, &head))
		names = append(names, head.Target.Context, head.Target.Namespace)
	}
	assert.Equal(t, []string{"blue", "BLUE", "green", "GREEN"}, names)
	whole := runWhole(t.Context(), "", "plan", "-f", blue.path("app.yaml"), "--kubeconfig", blue.path(file), "--contexts", "blue,green")
	for name, of := range map[string]*cluster{"blue": blue, "green": green} {
		assert.Contains(t, whole.out, fmt.Sprintf("Target: context %q, server %s, namespace %q, field manager \"kubectl-ssaplan\"\n\n",
			name, of.Config.Host, of.Namespace))
	}

	got = plan("", "-f", "app.yaml", "--contexts", "blue,green", "-o", "yaml")
	assert.Equal(t, 2, strings.Count(got.out, "---\n"))
	got = plan("", "-f", "app.yaml", "--contexts", "blue,green", "-o", "markdown")
	assert.Contains(t, got.out, "## `blue`\n\n**Plan:** 1 to create.\n")
	assert.Contains(t, got.out, "**By cluster:**\n\n- blue: 1 to create\n- green: 1 unchanged\n")
}

func TestContextsThatAreNotMeant(t *testing.T) {
	write(t, map[string]string{"app.yaml": configMap("a", "x"), "good": goodKubeconfig})
	got := run(t.Context(), "", strings.Fields("plan -f app.yaml --kubeconfig good --contexts lost,nowhere")...)
	assert.Equal(t, 1, got.code)
	assert.Contains(t, got.err, `context "lost": there is no cluster "west"`)
	assert.Contains(t, got.err, `there is no context "nowhere"; choose with --context one of: lost, nobody, prod, test`)
}
