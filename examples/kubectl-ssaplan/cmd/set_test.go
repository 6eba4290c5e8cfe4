package cmd_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/test/controlplane"
)

const twoKinds = `apiVersion: v1
kind: ConfigMap
metadata: {name: web-conf, labels: {app: web}}
data: {a: b}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: db-conf, labels: {app: db}}
data: {a: b}
---
apiVersion: v1
kind: Service
metadata: {name: web, labels: {app: web}}
spec: {ports: [{port: 80}]}
`

// A typo isn't patience: what neither the server nor the manifests have is an error, unless somebody else is going to make it.
func TestTypos(t *testing.T) {
	server := controlplane.Shared(t)
	write(t, map[string]string{"app.yaml": configMap("typos", "x") + "---\napiVersion: apps/v1\nkind: Deploymnt\nmetadata: {name: web}\n" +
		"---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: b, namespace: kube-sytem}\n"})
	command := func(line string) result {
		return run(t.Context(), "", append(strings.Fields(line), "-f", "app.yaml", "--kubeconfig", server.Kubeconfig())...)
	}
	got := command("plan")
	assert.Equal(t, 1, got.code)
	assert.Contains(t, got.err, "app.yaml: document 2 (line 8): apps/v1/Deploymnt web: neither the server nor the set has a kind Deploymnt in apps/v1; "+
		"did you mean apps/v1 Deployment")
	assert.Contains(t, got.err, `neither the server nor the set has a namespace "kube-sytem"; did you mean kube-system?`)
	assert.Equal(t, "nothing was applied; correct the errors first\n", lastLine(command("apply --yes").err))

	got = command("apply --yes --allow-missing")
	assert.Equal(t, 3, got.code)
	assert.Contains(t, got.err, "left out 2 deferred: apply again once what they wait for is there\n")
}

func lastLine(text string) string {
	lines := strings.SplitAfter(text, "\n")
	return lines[len(lines)-2]
}

// What a definition of the same manifests doesn't allow is an error before anything is applied.
func TestPreview(t *testing.T) {
	c := newCluster(t)
	write(t, map[string]string{"app.yaml": strings.NewReplacer("deferred", "preview", "{schedule: daily}", "{shcedule: daily}").Replace(crontab)})
	got := run(t.Context(), "", "plan", "-f", "app.yaml", "--kubeconfig", c.Server.Kubeconfig())
	assert.Equal(t, 1, got.code)
	assert.Contains(t, got.err, "preview.example.com/v1/CronTab preview/a: foretold by apiextensions.k8s.io/v1/CustomResourceDefinition "+
		"crontabs.preview.example.com of the same set: the definition has no field spec.shcedule")
}

// What a definition of the same manifests adds to an object is shown before either is there, as foretold.
func TestForetoldDefaults(t *testing.T) {
	c := newCluster(t)
	defaulted := strings.NewReplacer("deferred", "foretold", "schedule: {type: string}", "schedule: {type: string}, suspend: {type: boolean, default: false}").Replace(crontab)
	require.Contains(t, defaulted, "suspend")
	write(t, map[string]string{"app.yaml": defaulted})
	got := run(t.Context(), "", "plan", "-f", "app.yaml", "--kubeconfig", c.Server.Kubeconfig())
	assert.Equal(t, 2, got.code, got.err)
	assert.Contains(t, got.out, "and its defaults are foretold\n  + spec.suspend: false  # side effect")
	got = run(t.Context(), "", "plan", "-v", "-f", "app.yaml", "--kubeconfig", c.Server.Kubeconfig())
	assert.Contains(t, got.out, "    + schedule: \"daily\"\n    + suspend: false  # side effect")
}

// What can be applied is, if the user says so.
func TestKeepGoing(t *testing.T) {
	c := newCluster(t)
	write(t, map[string]string{"app.yaml": strings.Replace(deployment, "replicas: 2", "replicas: -2", 1) + "---\n" + twoKinds})
	got := c.run("apply --yes --keep-going -f app.yaml")
	assert.Equal(t, 1, got.code)
	assert.Contains(t, got.err, "spec.replicas: Invalid value")
	for _, name := range []string{"ConfigMap " + c.Namespace + "/web-conf", "ConfigMap " + c.Namespace + "/db-conf", "Service " + c.Namespace + "/web"} {
		assert.Contains(t, got.err, "created v1/"+name+"\n")
	}
}

func TestFilters(t *testing.T) {
	c := newCluster(t)
	write(t, map[string]string{"app.yaml": twoKinds, "class.yaml": "{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: " + c.Namespace + "}, value: 1}"})
	for flags, want := range map[string]string{
		"":                                   "3 to create",
		"-l app=web":                         "2 to create",
		"-l app=web,app!=web":                "nothing to do",
		"--include kind=Service":             "1 to create",
		"--include kind=ConfigMap,name=web*": "1 to create",
		"--include kind=Service --include name=db*":   "2 to create",
		"--exclude kind=Service":                      "2 to create",
		"--exclude name=* ":                           "nothing to do",
		"--include name=*conf --exclude name=db-conf": "1 to create",
		"--include kind=service":                      "1 to create",
		"--include namespace=" + c.Namespace:          "3 to create",
		"--exclude namespace=" + c.Namespace:          "nothing to do",
		"--include namespace=default":                 "nothing to do",
		"-f class.yaml --exclude namespace=?*":        "1 to create",
	} {
		got := c.run("plan -f app.yaml " + flags)
		require.Empty(t, got.err, flags)
		assert.Contains(t, got.out, "Plan: "+want+".", flags)
	}
	for flags, problem := range map[string]string{
		"--include Service":  `--include: "Service": expected conditions such as kind=Job,name=db-*, joined by commas, about: kind, name, namespace`,
		"--exclude kind=[a-": `--exclude: "kind=[a-": expected conditions`,
		"-l app=web=x":       `-l: `,
	} {
		got := c.run("plan -f app.yaml " + flags)
		assert.Equal(t, 1, got.code)
		assert.Contains(t, got.err, problem, flags)
	}
}
