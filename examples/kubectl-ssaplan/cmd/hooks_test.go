package cmd_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// chart is what helm template prints of a chart that helm create made, with a hook of each of its forms.
const chart = `---
# Source: web/templates/configmap.yaml
apiVersion: v1
kind: ConfigMap
metadata:
  name: release-name-web
  labels:
    helm.sh/chart: web-0.1.0
    app.kubernetes.io/managed-by: Helm
data:
  a: b
---
# Source: web/templates/tests/test-connection.yaml
apiVersion: v1
kind: Pod
metadata:
  name: "release-name-web-test-connection"
  annotations:
    "helm.sh/hook": test
spec:
  containers:
    - name: wget
      image: busybox
      command: ['wget']
  restartPolicy: Never
---
# Source: web/templates/migrate.yaml
apiVersion: batch/v1
kind: Job
metadata:
  name: migrate
  annotations:
    "helm.sh/hook": pre-install,pre-upgrade
    "helm.sh/hook-weight": "-5"
    "helm.sh/hook-delete-policy": before-hook-creation
spec:
  template:
    spec:
      restartPolicy: Never
      containers: [{name: migrate, image: migrate}]
`

// Hooks in what a chart renders to are named, and no objects: neither planned, applied, pruned nor deleted, unless that is asked for.
func TestHooksAreLeftOut(t *testing.T) {
	c := newCluster(t)
	write(t, map[string]string{"all.yaml": chart})
	left := "Left out, since Helm runs these hooks apart (--hooks takes them for objects):\n" +
		"· v1/Pod release-name-web-test-connection  test\n" +
		"· batch/v1/Job migrate  pre-install, pre-upgrade, weight -5, deleted before-hook-creation\n\n"
	got := run(t.Context(), chart, "plan", "-f", "-", "--kubeconfig", c.Server.Kubeconfig(), "-n", c.Namespace)
	assert.Equal(t, result{2, left + "+ v1/ConfigMap " + c.Namespace + "/release-name-web  create with 3 fields\n\nPlan: 1 to create; 2 Helm hooks left out.\n", ""}, got)
	for _, format := range []string{"json", "markdown", "html"} {
		got := c.run("plan -f all.yaml -o " + format)
		assert.Equal(t, 2, got.code)
		assert.Contains(t, got.out, "pre-install, pre-upgrade, weight -5", format)
		if format == "json" {
			fitsSchema(t, got.out)
		}
	}
	require.Equal(t, 2, c.run("plan -f all.yaml --out saved.plan").code)
	assert.Equal(t, 0, c.run("apply --plan saved.plan").code)
	assert.Contains(t, run(t.Context(), "", "show", "saved.plan").out, left)
	assert.NotContains(t, c.kubectl("get", "pods,jobs", "-o", "name"), "/")

	got = c.run("apply --yes -f all.yaml --hooks --state state.json")
	require.Equal(t, 0, got.code, got.err)
	assert.Contains(t, c.kubectl("get", "pods,jobs", "-o", "name"), "job.batch/migrate\n")
	got = c.run("plan -f all.yaml --state state.json --prune")
	assert.Equal(t, 0, got.code, got.out)
	assert.NotContains(t, got.out, "delete\n", "what is left out hasn't left the set")

	got = c.run("delete --yes -f all.yaml")
	assert.Equal(t, 0, got.code)
	assert.Contains(t, got.err, "left out batch/v1/Job migrate, which Helm runs apart: pre-install, pre-upgrade")
	assert.Contains(t, c.kubectl("get", "pods,jobs", "-o", "name"), "job.batch/migrate\n")

	only := "apiVersion" + strings.Split(strings.Split(chart, "---\n")[3], "apiVersion")[1]
	require.NoError(t, os.WriteFile("only.yaml", []byte(only), 0o600))
	got = c.run("delete --yes -f only.yaml --state state.json")
	assert.NotContains(t, got.err, "\ndeleted ", "no manifest isn't all manifests")
	assert.Contains(t, c.kubectl("get", "pods,jobs", "-o", "name"), "job.batch/migrate\n")
}
