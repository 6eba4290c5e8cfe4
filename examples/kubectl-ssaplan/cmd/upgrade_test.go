package cmd_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What an upgrade changes is the same whether the cluster has what it starts from or not, and is what applying the one after the other does.
func TestUpgradeOfWhatIsntThere(t *testing.T) {
	c := newCluster(t)
	two := strings.NewReplacer("web:1", "web:2", "  replicas: 2\n", "", "      - name: log\n        image: log:1\n", "      - name: log\n        image: log:1\n        env: [{name: A, value: b}]\n").Replace(deployment)
	write(t, map[string]string{
		"v1/app.yaml": deployment + "---\n" + configMap("old", "x") + "---\n" + configMap("same", "x"),
		"v2/app.yaml": two + "---\n" + configMap("new", "x") + "---\n" + configMap("same", "x"),
	})
	absent := c.run("plan --from v1 --to v2 -v")
	require.Equal(t, 2, absent.code, absent.err)
	changes := []string{
		"~ replicas: 2 → 1  # no longer in the manifest\n", `~ [name="web"].image: "web:1" → "web:2"`, `+ [name="log"].env[name="A"]: `, "+ v1/ConfigMap NS/new  create with 1 field\n",
		"v1/ConfigMap NS/old  delete\n", "= v1/ConfigMap NS/same\n", "Plan: 1 to create, 1 to update, 1 unchanged; 1 no longer in the manifests.\n",
	}
	out := strings.ReplaceAll(absent.out, c.Namespace, "NS")
	for _, change := range changes {
		assert.Contains(t, out, change)
	}
	assert.Contains(t, out, "whether the server takes these changes in place isn't known")
	assert.NotContains(t, c.kubectl("get", "all,configmaps", "-o", "name"), "web", "nothing was applied")
	fitsSchema(t, c.run("plan --from v1 --to v2 -o json").out)

	c.apply("-f v1")
	present := c.run("plan --from v1 --to v2 -o diff")
	require.Equal(t, 2, present.code, present.err)
	require.Equal(t, 2, c.run("plan -f v2 -o diff").code)
	assert.Equal(t, changedLines(c.run("plan -f v2 -o diff").out), changedLines(present.out), "the plan of the second")
	assert.NotContains(t, present.out, "isn't known")
	c.apply("-f v2")
	assert.Equal(t, "1", c.kubectl("get", "deployment", "web", "-o", "jsonpath={.spec.replicas}"))
}

// An upgrade is shown before the namespace and the kinds are there, without secrets.
func TestUpgradeOfASet(t *testing.T) {
	c := newCluster(t)
	one := strings.ReplaceAll(apart, "NS", c.Namespace) + "---\napiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: " + c.Namespace + "-apart}\nstringData: {a: c4n4ry-one}\n"
	two := strings.NewReplacer("a: b}", "a: c}", "c4n4ry-one", "c4n4ry-two", "spec: {}", "spec: {size: 5}").Replace(one)
	write(t, map[string]string{"v1.yaml": one, "v2.yaml": two})
	got := run(t.Context(), "", "plan", "--from", "v1.yaml", "--to", "v2.yaml", "--kubeconfig", c.Server.Kubeconfig())
	require.Equal(t, 2, got.code, got.err)
	assert.Contains(t, got.out, "~ data.a: \"b\" → \"c\"\n")
	assert.Contains(t, got.out, "+ spec.size: 5\n")
	assert.Contains(t, got.out, "<redacted: changed>")
	assert.NotRegexp(t, "c4n4ry|YzRuNHJ5", got.out)
	assert.Contains(t, got.out, "Plan: 3 to update, 3 unchanged.\n")
	assert.Equal(t, 0, run(t.Context(), "", "plan", "--from", "v1.yaml", "--to", "v1.yaml", "--kubeconfig", c.Server.Kubeconfig()).code)
	for line, want := range map[string]string{
		"plan --from v1.yaml":                         "--from and --to: name the manifests before the upgrade",
		"plan --from v1.yaml --to v2.yaml -f v1.yaml": "leave -f and -k out",
		"plan --from v1.yaml --to v2.yaml --out a":    "nothing is remembered, saved or applied",
	} {
		assert.Contains(t, c.run(line).err, want)
	}
}
