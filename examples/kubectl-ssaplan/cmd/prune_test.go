package cmd_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
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
