package cmd_test

import (
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// changedLines returns the lines that a unified diff removes and adds, without those that every write changes.
func changedLines(diff string) (lines []string) {
	for line := range strings.Lines(diff) {
		if !regexp.MustCompile(`^[-+]`).MatchString(line) || regexp.MustCompile(`^(---|\+\+\+) |^[-+] *(generation|uid|creationTimestamp|resourceVersion): `).MatchString(line) {
			continue
		}
		lines = append(lines, line)
	}
	return lines
}

// tryKubectl runs a kubectl that ends with a code.
func (c *cluster) tryKubectl(code int, args ...string) string {
	c.t.Helper()
	command := exec.Command(c.Server.Bin("kubectl"), append(args, "--kubeconfig", c.Server.Kubeconfig(), "-n", c.Namespace)...)
	out, err := command.CombinedOutput()
	require.NotNil(c.t, command.ProcessState, err)
	require.Equal(c.t, code, command.ProcessState.ExitCode(), string(out))
	return string(out)
}

// What changes in objects that are there is what kubectl diff prints of the same apply, line by line.
func TestDiffIsThatOfKubectl(t *testing.T) {
	c := newCluster(t)
	write(t, map[string]string{"app.yaml": deployment + "---\n" + configMap("a", "x") + "---\n" + configMap("b", "same")})
	c.apply("-f app.yaml")
	c.kubectl("scale", "deployment", "web", "--replicas", "7")
	c.edit("app.yaml", "web:1", "web:2")
	c.edit("app.yaml", "1000m}}\n", "1000m}}\n        env: [{name: A, value: \"- b\"}]\n")
	c.edit("app.yaml", "key: x", "key: |\n    one\n    two\n  more: z")
	kubectl := c.tryKubectl(1, "diff", "--server-side", "--force-conflicts", "--field-manager=kubectl-ssaplan", "-f", "app.yaml")
	got := c.run("plan -f app.yaml -o diff")
	require.Equal(t, 2, got.code, got.err)
	require.NotEmpty(t, changedLines(kubectl))
	assert.ElementsMatch(t, changedLines(kubectl), changedLines(got.out), got.out)
	assert.Contains(t, got.out, "--- LIVE/apps.v1.Deployment."+c.Namespace+".web\n+++ MERGED/apps.v1.Deployment."+c.Namespace+".web\n@@ -")
	assert.NotContains(t, got.out, "same", "nothing happens to it")
}

// Secrets look different where they differ, and are never shown, also those that nobody declares.
func TestDiffShowsNoSecrets(t *testing.T) {
	c := newCluster(t)
	secret := "apiVersion: v1\nkind: Secret\nmetadata: {name: s, annotations: {a: c4n4ry-one}}\nstringData: {a: c4n4ry-two, b: same}\n"
	write(t, map[string]string{"app.yaml": secret})
	c.apply("-f app.yaml")
	c.kubectl("patch", "secret", "s", "--field-manager", "other", "-p", `{"stringData":{"c":"c4n4ry-three"}}`)
	c.edit("app.yaml", "c4n4ry-two", "c4n4ry-four")
	got := c.run("plan -f app.yaml -o diff")
	require.Equal(t, 2, got.code, got.err)
	assert.Equal(t, []string{"-  a: <redacted>\n", "+  a: '<redacted: changed>'\n"}, changedLines(got.out), got.out)
	assert.NotRegexp(t, `c4n4ry|YzRuNHJ5`, got.out)
}

// Objects that come, go and are replaced have a diff with one side, or of two objects.
func TestDiffOfWholeObjects(t *testing.T) {
	c := newCluster(t)
	job := "apiVersion: batch/v1\nkind: Job\nmetadata: {name: j}\nspec: {suspend: true, template: {spec: {restartPolicy: Never, containers: [{name: c, image: one}]}}}\n"
	write(t, map[string]string{"app.yaml": configMap("old", "x") + "---\n" + job})
	c.apply("-f app.yaml --state state.json")
	c.overwrite("app.yaml", configMap("new", "z")+"---\n"+strings.Replace(job, "one", "two", 1))
	got := c.run("plan -f app.yaml --state state.json --prune -o diff")
	require.Equal(t, 2, got.code, got.err)
	assert.Contains(t, got.out, "-  name: old\n+  name: new\n")
	assert.Contains(t, got.out, "-      - image: one\n+      - image: two\n")
	assert.Contains(t, got.out, "# Replace: ")
}
