package cmd_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/test/lab"
)

// What leaves the manifests is shown in every plan, and deleted with --prune.
func TestPrune(t *testing.T) {
	c := newCluster(t)
	write(t, map[string]string{"app.yaml": configMap("one", "x") + "---\n" + configMap("two", "x") + "---\n" + configMap("three", "x")})
	c.apply("-f app.yaml --state state.json")
	require.NoError(t, os.WriteFile("app.yaml", []byte(configMap("one", "x")+"---\n"+configMap("three", "x")), 0o600))

	got := c.run("plan -f app.yaml --state state.json")
	assert.Equal(t, 0, got.code)
	assert.Contains(t, got.out, "No longer in the manifests (--prune deletes it):\n")
	assert.Contains(t, got.out, "v1/ConfigMap "+c.Namespace+"/two  delete\n")
	assert.Contains(t, got.out, "Plan: 2 unchanged; 1 no longer in the manifests.\n")
	c.apply("-f app.yaml --state state.json")
	got = c.run("plan -f app.yaml --state state.json --prune -o json")
	assert.Equal(t, 2, got.code, "an apply without --prune forgets nothing")
	fitsSchema(t, got.out)
	assert.Contains(t, got.out, `"removals"`)

	got = c.run("apply --yes -f app.yaml --state state.json --prune")
	assert.Equal(t, 0, got.code, got.err)
	assert.Equal(t, "deleted v1/ConfigMap "+c.Namespace+"/two\n", got.err)
	assert.Contains(t, got.out, "Plan: 2 unchanged; 1 to delete.\n")
	c.expect("plan -f app.yaml --state state.json --prune", 0, "Plan: 2 unchanged.\n")
}

// Neither an empty input, nor an error, nor what the flags didn't choose has anything pruned; nor what somebody made anew.
func TestNothingIsPrunedByMistake(t *testing.T) {
	c := newCluster(t)
	write(t, map[string]string{"app.yaml": twoKinds, "empty.yaml": "\n"})
	c.apply("-f app.yaml --state state.json")
	got := c.run("apply --yes -f empty.yaml --state state.json --prune")
	assert.Equal(t, 1, got.code)
	assert.Contains(t, got.err, "empty.yaml: is empty")
	c.expect("apply --yes -f app.yaml --state state.json --prune -l app=web", 0, "Plan: 2 unchanged.\n")

	write := func(text string) { require.NoError(t, os.WriteFile("app.yaml", []byte(text), 0o600)) }
	write(configMap("web-conf", "b") + "---\nkind: nonsense\n")
	got = c.run("apply --yes -f app.yaml --state state.json --prune --keep-going")
	assert.Equal(t, 1, got.code)
	assert.NotContains(t, got.err, "deleted")

	write(configMap("web-conf", "b"))
	c.kubectl("delete", "service", "web")
	c.kubectl("create", "service", "clusterip", "web", "--tcp=80")
	got = c.run("apply --yes -f app.yaml --state state.json --prune")
	assert.Equal(t, 0, got.code, got.err)
	assert.Contains(t, got.err, "deleted v1/ConfigMap "+c.Namespace+"/db-conf\n")
	assert.NotContains(t, got.err, "deleted v1/Service")
	c.kubectl("get", "service", "web")
}

// A set is deleted by what is remembered of it, or by its manifests.
func TestDelete(t *testing.T) {
	c := newCluster(t)
	write(t, map[string]string{"app.yaml": twoKinds})
	c.apply("-f app.yaml --state state.json")
	got := c.run("delete --state state.json --dry-run")
	assert.Equal(t, 2, got.code)
	assert.Contains(t, got.out, "v1/Service "+c.Namespace+"/web  delete\n")
	c.kubectl("get", "service", "web")
	got = c.run("delete --state state.json --yes -f app.yaml")
	assert.Equal(t, 0, got.code, got.err)
	assert.Contains(t, got.err, "deleted v1/Service "+c.Namespace+"/web\ndeleted v1/ConfigMap")
	c.expect("delete --state state.json --yes", 0, "")

	c.apply("-f app.yaml")
	got = c.run("delete --yes -f app.yaml")
	assert.Equal(t, 0, got.code, got.err)
	assert.Empty(t, c.kubectl("get", "service", "-o", "name"))
	got = c.run("delete --yes -f app.yaml")
	assert.Equal(t, 0, got.code, got.err)
	assert.Contains(t, c.run("delete --yes").err, "no manifests")
	assert.Contains(t, c.run("delete --state state.json").err, "delete: nobody can be asked")
}

// An object that another set has applied since is that set's, whichever runs first after it moved there.
func TestObjectThatMovedToAnotherSet(t *testing.T) {
	c := newCluster(t)
	write(t, map[string]string{"a.yaml": maps("one", "two"), "b.yaml": strings.Replace(maps("two"), "x", "z", 1)})
	c.apply("-f a.yaml --state a.json")
	time.Sleep(1100 * time.Millisecond) // records have times in seconds
	c.apply("-f b.yaml --state b.json")
	c.overwrite("a.yaml", maps("one"))
	got := c.run("apply --yes -f a.yaml --state a.json --prune")
	assert.Equal(t, 0, got.code, got.err)
	assert.Contains(t, got.out, "two  kept: another tool applies under the same field manager")
	assert.Equal(t, "one two", c.objects())

	const a, b = " --applyset a --prune -f a.yaml", " --applyset b --prune -f b.yaml"
	c.overwrite("a.yaml", maps("one", "three"))
	c.apply(a)
	c.overwrite("b.yaml", maps("three"))
	c.apply(b)
	c.overwrite("a.yaml", maps("one"))
	c.apply(a)
	assert.Equal(t, "one three two", c.objects(), "the label says whose it is")
}

// An object that is served in two versions is the same object in both.
func TestObjectInAnotherVersion(t *testing.T) {
	c := newCluster(t)
	const scaler = `{apiVersion: autoscaling/v1, kind: HorizontalPodAutoscaler, metadata: {name: web}, spec: {maxReplicas: 3, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}}}`
	write(t, map[string]string{"app.yaml": scaler})
	c.apply("-f app.yaml --state state.json")
	uid := c.kubectl("get", "hpa", "web", "-o", "jsonpath={.metadata.uid}")
	c.overwrite("app.yaml", strings.Replace(scaler, "autoscaling/v1", "autoscaling/v2", 1))
	got := c.run("apply --yes -f app.yaml --state state.json --prune")
	assert.Equal(t, 0, got.code, got.err)
	assert.NotContains(t, got.err, "deleted")
	assert.Equal(t, uid, c.kubectl("get", "hpa", "web", "-o", "jsonpath={.metadata.uid}"))
	assert.NotContains(t, c.run("plan -f app.yaml --state state.json --prune").out, "delete")
}

// Another namespace is another place: what was applied elsewhere is shown to go, which takes --replace, and nothing else there does.
func TestAnotherNamespaceIsAnotherPlace(t *testing.T) {
	c := newCluster(t)
	c.Apply(t, "somebody", lab.Objectf(t, "{apiVersion: v1, kind: Namespace, metadata: {name: %s-other}}", c.Namespace))
	write(t, map[string]string{"app.yaml": maps("one")})
	c.apply("-f app.yaml --state state.json")
	c.kubectl("create", "configmap", "other")
	line := "-f app.yaml --state state.json --prune -n " + c.Namespace + "-other --kubeconfig " + c.Server.Kubeconfig()
	got := run(t.Context(), "", strings.Fields("plan "+line)...)
	assert.Contains(t, got.out, "/one  replaces v1/ConfigMap "+c.Namespace+"/one")
	got = run(t.Context(), "", strings.Fields("apply --yes "+line)...)
	assert.Equal(t, 3, got.code, got.err)
	assert.Equal(t, "one other", c.objects())
	got = run(t.Context(), "", strings.Fields("apply --yes --replace "+line)...)
	assert.Equal(t, 0, got.code, got.err)
	assert.Contains(t, c.objects(), "other")
}
