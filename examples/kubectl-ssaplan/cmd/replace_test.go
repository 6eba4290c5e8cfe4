package cmd_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/ssaplan/primitives/examples/kubectl-ssaplan/cmd"
)

func (c *cluster) uid(object string) string {
	c.t.Helper()
	return c.kubectl("get", object, "-o", "jsonpath={.metadata.uid}")
}

func TestReplaceImmutableField(t *testing.T) {
	c := newCluster(t)
	write(t, map[string]string{"app.yaml": deployment})
	c.apply("-f app.yaml --state state.json")
	before := c.uid("deployment/web")
	c.edit("app.yaml", "app: web", "app: shop")

	got := c.run("apply --yes -f app.yaml --state state.json")
	assert.Equal(t, 3, got.code)
	assert.Contains(t, got.out, "± apps/v1/Deployment "+c.Namespace+"/web  replace: can't change in place: spec.selector\n")
	assert.Equal(t, "left out 1 to be replaced: --replace deletes the old object and creates the new one\n", got.err)
	assert.Equal(t, before, c.uid("deployment/web"))

	got = c.run("apply --yes --replace -f app.yaml --state state.json")
	assert.Equal(t, 0, got.code, got.out+got.err)
	assert.True(t, strings.HasSuffix(got.err, "replaced apps/v1/Deployment "+c.Namespace+"/web\n"), got.err)
	assert.NotEqual(t, before, c.uid("deployment/web"))
	assert.Equal(t, "shop", c.kubectl("get", "deployment", "web", "-o", "jsonpath={.spec.selector.matchLabels.app}"))
	c.expect("plan -f app.yaml --state state.json", 0, "Plan: 1 unchanged.\n")
}

func TestReplaceRenamedObject(t *testing.T) {
	c := newCluster(t)
	write(t, map[string]string{"app.yaml": configMap("one", "x") + "---\n" + configMap("two", "x")})
	c.apply("-f app.yaml --state state.json")
	c.edit("app.yaml", "name: one", "name: other")

	got := c.run("apply --yes --replace -f app.yaml --state state.json")
	got.out, got.err = strings.ReplaceAll(got.out, c.Namespace, "NS"), strings.ReplaceAll(got.err, c.Namespace, "NS")
	assert.Equal(t, result{0, `± v1/ConfigMap NS/other  replaces v1/ConfigMap NS/one, which is deleted first
  ± metadata.name: "one" -> "other"
  ▲ objects that name this one as their owner are deleted with it

Plan: 1 to replace, 1 unchanged.
`, `To be deleted: v1/ConfigMap NS/one
  ▲ objects that name this one as their owner are deleted with it
deleted v1/ConfigMap NS/one
created v1/ConfigMap NS/other
`}, got)
	names := c.kubectl("get", "configmaps", "-o", "name")
	assert.Contains(t, names, "configmap/other\n")
	assert.NotContains(t, names, "configmap/one\n")
	c.expect("plan -f app.yaml --state state.json", 0, "Plan: 2 unchanged.\n")
}

// The pods of a Job that is replaced go with it: no finalizer has the server leave them behind.
func TestReplaceOfAJob(t *testing.T) {
	c := newCluster(t)
	write(t, map[string]string{"app.yaml": "apiVersion: batch/v1\nkind: Job\nmetadata: {name: j}\n" +
		"spec: {template: {spec: {restartPolicy: Never, containers: [{name: a, image: 'a:1'}]}}}\n"})
	c.apply("-f app.yaml")
	c.edit("app.yaml", "a:1", "a:2")
	got := c.run("apply --yes --replace -f app.yaml")
	assert.Equal(t, 0, got.code, got.err)
	assert.Contains(t, got.err, "▲ the pods stop until the new object has started others\n")
	assert.Contains(t, got.err, "▲ objects that name this one as their owner are deleted with it\n")
	assert.Equal(t, "a:2 ", c.kubectl("get", "job", "j", "-o", "jsonpath={.spec.template.spec.containers[0].image} {.metadata.finalizers}"))
}

// watched is an output in which something can be waited for.
type watched struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (w *watched) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.Write(p)
}

func (w *watched) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.String()
}

// Who presses Ctrl-C while a finalizer holds up the delete is told how far it got, and can go on from there.
func TestReplaceInterrupted(t *testing.T) {
	c := newCluster(t)
	write(t, map[string]string{"app.yaml": configMap("one", "x") + "---\n" + configMap("two", "x")})
	c.apply("-f app.yaml --state state.json")
	c.kubectl("patch", "configmap", "one", "-p", `{"metadata":{"finalizers":["example.com/wait"]}}`)
	c.edit("app.yaml", "name: one", "name: other")
	c.edit("app.yaml", "key: x", "key: z")

	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var out, errOut watched
	done := make(chan int)
	go func() {
		args := strings.Fields("apply --yes --replace -f app.yaml --state state.json -n " + c.Namespace + " --kubeconfig " + c.Server.Kubeconfig())
		done <- cmd.Run(ctx, args, genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: &errOut})
	}()
	const waiting = `To be deleted: v1/ConfigMap NS/one
  ▲ the delete waits for finalizers: example.com/wait
  ▲ objects that name this one as their owner are deleted with it
  ▲ finalizer example.com/wait (set by "kubectl-patch" (Update))
waiting until v1/ConfigMap NS/one is gone: it has the finalizers example.com/wait
`
	said := func() string { return strings.ReplaceAll(errOut.String(), c.Namespace, "NS") }
	require.Eventually(t, func() bool { return said() == waiting }, time.Minute, 20*time.Millisecond)
	time.Sleep(1500 * time.Millisecond) // one more look, which has nothing new to say
	cancel()
	assert.Equal(t, 1, <-done)
	assert.Equal(t, waiting+
		"app.yaml: document 1 (line 1): v1/ConfigMap NS/other: replace of v1/ConfigMap NS/one stopped while waiting: "+
		"the delete waits for finalizers example.com/wait: context canceled; the old object is being deleted: replace again to wait on\n"+
		"interrupted before v1/ConfigMap NS/two\n"+
		"Apply: 1 done, 1 not sent.\n", said(), "the delete is done")

	c.kubectl("patch", "configmap", "one", "--type", "merge", "-p", `{"metadata":{"finalizers":null}}`)
	c.apply("--replace -f app.yaml --state state.json")
	names := c.kubectl("get", "configmaps", "-o", "name")
	assert.Contains(t, names, "configmap/other\n")
	assert.NotContains(t, names, "configmap/one\n")
	c.expect("plan -f app.yaml --state state.json", 0, "Plan: 2 unchanged.\n")
}

func TestIgnore(t *testing.T) {
	c := newCluster(t)
	write(t, map[string]string{"app.yaml": deployment})
	c.apply("-f app.yaml --ignore spec.replicas")
	assert.Equal(t, "2", c.kubectl("get", "deployment", "web", "-o", "jsonpath={.spec.replicas}"), "it is created with it")
	c.kubectl("scale", "deployment", "web", "--replicas", "7")
	c.expect("plan -f app.yaml --ignore spec.replicas", 0, "Plan: 1 unchanged.\n")
	verbose := c.run("plan -v -f app.yaml --ignore /spec/replicas --ignore spec.replica")
	assert.Contains(t, verbose.out, "ignored, left to")
	assert.Contains(t, verbose.out, "spec.replica: is to be ignored, and neither the manifest nor the object has it")
	c.apply("-f app.yaml --ignore spec.replicas")
	assert.Equal(t, "7", c.kubectl("get", "deployment", "web", "-o", "jsonpath={.spec.replicas}"))
	got := c.run("plan -f app.yaml")
	assert.Equal(t, 2, got.code)
	assert.Contains(t, got.out, "replicas: 7 → 2")
}

// What client-side apply left behind goes with --adopt, and the plan says so.
func TestAdopt(t *testing.T) {
	c := newCluster(t)
	const conf = "{apiVersion: v1, kind: ConfigMap, metadata: {name: conf}, data: {a: A%s}}"
	for _, flag := range []string{"--adopt kubectl-client-side-apply", "--adopt auto"} {
		write(t, map[string]string{"app.yaml": fmt.Sprintf(conf, ", old: X")})
		c.kubectl("apply", "-f", "app.yaml")
		write(t, map[string]string{"app.yaml": fmt.Sprintf(conf, "")})
		without := c.run("plan -f app.yaml -v")
		assert.Contains(t, without.out, `stays behind of kubectl apply, "kubectl-client-side-apply" (Update): data.old, metadata.annotations["kubectl.`)
		assert.Contains(t, without.out, "--adopt auto")
		got := c.run("plan -f app.yaml " + flag)
		assert.Equal(t, 2, got.code, got.err)
		assert.NotContains(t, got.out, "stays behind")
		assert.Contains(t, got.out, "- data.old: \"X\"  # not in the manifest; taken over from \"kubectl-client-side-apply\" (Update")
		c.apply("-f app.yaml " + flag)
		assert.Equal(t, "{\"a\":\"A\"}", c.kubectl("get", "configmap", "conf", "-o", "jsonpath={.data}"))
		c.expect("plan -f app.yaml "+flag, 0, "Plan: 1 unchanged.\n")
		c.kubectl("delete", "configmap", "conf")
	}
	got := c.run("plan -f app.yaml --subresource status --adopt auto")
	assert.Contains(t, got.err, "--adopt: only of objects themselves")
}

// What is named as sensitive is in no output and not in the state, in every format, and neither is a Secret.
func TestSensitive(t *testing.T) {
	c := newCluster(t)
	write(t, map[string]string{"app.yaml": configMap("a", "hunter2-one"),
		"secret.yaml": "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {pin: 4711815}\n"})
	c.apply("-f app.yaml --sensitive data.key --state state.json")
	state, err := os.ReadFile("state.json")
	require.NoError(t, err)
	assert.NotContains(t, string(state), "hunter2")
	c.edit("app.yaml", "hunter2-one", "hunter2-two")
	for _, output := range []string{"text", "json", "yaml", "markdown"} {
		got := c.run("plan -f app.yaml --sensitive data.key --state state.json -v -o " + output)
		assert.Equal(t, 2, got.code, output)
		assert.Contains(t, got.out, "key", output)
		assert.NotContains(t, got.out+got.err, "hunter2", output)
		got = c.run("plan -f secret.yaml -o " + output)
		assert.Equal(t, 1, got.code, output)
		assert.Contains(t, got.out+got.err, "stringData.pin: expected string", output)
		assert.NotContains(t, got.out+got.err, "4711815", output)
	}
	got := c.run("plan -f app.yaml --sensitive data.kye --sensitive data.key")
	assert.Equal(t, "warning: --sensitive data.kye: no manifest has such a field\n", got.err, "which hides nothing")
	got = c.run("plan -f secret.yaml --show-server-text")
	assert.Contains(t, got.out+got.err, "4711815", "who asks for it gets what the server says")
}

// Items move, so a position means every item, and what names an item may be what is sensitive.
func TestSensitiveItems(t *testing.T) {
	c := newCluster(t)
	object := func(first, second, port string) string {
		return "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec:\n  replicas: 0\n  selector: {matchLabels: {a: b}}\n" +
			"  template:\n    metadata: {labels: {a: b}}\n    spec:\n      containers:\n" +
			"      - {name: web, image: hunter2-" + first + ", ports: [{containerPort: 4711" + port + "}]}\n      - {name: api, image: hunter2-" + second + "}\n"
	}
	const sensitive = " --sensitive spec.template.spec.containers[0].image --sensitive spec.template.spec.containers[*].ports[*].containerPort --state state.json -f app.yaml"
	write(t, map[string]string{"app.yaml": object("one", "two", "5")})
	shown := c.run("apply --yes" + sensitive)
	require.Equal(t, 0, shown.code, shown)
	require.NoError(t, os.WriteFile("app.yaml", []byte(object("three", "four", "6")), 0o600))
	all := shown.out + shown.err
	for _, output := range []string{"text", "json", "yaml", "markdown", "html", "jsonl"} {
		got := c.run("plan -v" + sensitive + " -o " + output)
		assert.Equal(t, 2, got.code, got.err)
		assert.Contains(t, got.out, "image", output)
		assert.Contains(t, got.out, "ports", output)
		all += got.out + got.err
	}
	state, err := os.ReadFile("state.json")
	require.NoError(t, err)
	assert.NotContains(t, all+string(state), "hunter2")
	assert.NotContains(t, all+string(state), "4711")
}

func TestPlanAsMarkdown(t *testing.T) {
	c := newCluster(t)
	write(t, map[string]string{"app.yaml": configMap("a", "x")})
	c.apply("-f app.yaml")
	c.edit("app.yaml", "key: x", "key: z")
	c.expect("plan -f app.yaml -o markdown", 2, "**Plan:** 1 to update.\n\n<details><summary><code>~ v1/ConfigMap NS/a  update: 1 edited</code></summary>\n\n"+
		"```diff\n! data.key: \"x\" → \"z\"\n```\n\n</details>\n")

	require.NoError(t, os.WriteFile("broken.yaml", []byte("kind: ConfigMap\n"), 0o600))
	got := c.run("plan -f broken.yaml -o markdown")
	const problem = "broken.yaml: document 1 (line 1): apiVersion: missing; every object needs apiVersion, kind and metadata.name\n"
	assert.Equal(t, result{1, "**Plan:** 1 error.\n\n**Errors:**\n\n```\n" + problem + "```\n", problem}, got)
}
