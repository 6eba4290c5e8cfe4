package cmd_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/test/lab"
)

const deploymentStatus = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
status:
  replicas: 2
  readyReplicas: 1
  conditions:
  - {type: Audited, status: "True", lastUpdateTime: "2026-01-02T03:04:05Z", lastTransitionTime: "2026-01-02T03:04:05Z"}
`

const deploymentScale = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  replicas: 4
`

// A status is planned and applied like an object: what is edited, dropped, drifted, in conflict and left to others.
func TestStatus(t *testing.T) {
	c := newCluster(t)
	write(t, map[string]string{"app.yaml": deployment, "status.yaml": deploymentStatus})
	got := c.run("plan -f status.yaml --subresource status")
	assert.Equal(t, 1, got.code)
	assert.Contains(t, got.err, "there is no object whose status could be applied: create it first")
	c.apply("-f app.yaml")

	c.expect("plan -f status.yaml --subresource status", 2, `~ apps/v1/Deployment NS/web (status)  update: 3 edited
    status
    + conditions[type="Audited"]:
        lastTransitionTime: "2026-01-02T03:04:05Z"
        lastUpdateTime: "2026-01-02T03:04:05Z"
        status: "True"
        type: Audited
    + readyReplicas: 1
    + replicas: 2

Plan: 1 to update.
`)
	got = c.run("apply --yes -f status.yaml --subresource status")
	assert.Equal(t, 0, got.code)
	assert.Equal(t, "updated apps/v1/Deployment "+c.Namespace+"/web (status)\n", got.err)
	c.expect("plan -f status.yaml --subresource status", 0, "Plan: 1 unchanged.\n")
	c.expect("plan -f status.yaml --subresource status -v", 0, "= apps/v1/Deployment NS/web (status)\n\nPlan: 1 unchanged.\n")

	c.edit("status.yaml", "  readyReplicas: 1\n", "")
	c.kubectl("patch", "deployment", "web", "--subresource", "status", "--field-manager", "controller", "-p", `{"status":{"replicas":7}}`)
	got = c.run("plan -f status.yaml --subresource status")
	assert.Equal(t, 2, got.code)
	assert.Contains(t, got.out, "web (status)  update: 1 drifted, 1 dropped from the manifest\n")
	assert.Contains(t, got.out, `~ replicas: 7 → 2  # drifted: "controller" changed it (Update of status`)
	assert.Contains(t, got.out, "- readyReplicas: 1  # no longer in the manifest")

	got = c.run("plan -f status.yaml --subresource status --force-conflicts=false")
	assert.Equal(t, 3, got.code)
	assert.Contains(t, got.out, `! status.replicas: owned by "controller" (Update of status)`)

	c.apply("-f status.yaml --subresource status --ignore status.replicas")
	assert.Equal(t, "7", c.kubectl("get", "deployment", "web", "-o", "jsonpath={.status.replicas}"), "it is left to the controller")
}

// A scale takes the replicas from whoever has them, which may be the same manager's apply of the object.
func TestScale(t *testing.T) {
	c := newCluster(t)
	write(t, map[string]string{"app.yaml": deployment, "scale.yaml": deploymentScale})
	c.apply("-f app.yaml")
	c.expect("plan -f scale.yaml --subresource scale", 2, `~ apps/v1/Deployment NS/web (scale)  update: 1 edited
  ~ spec.replicas: 2 → 4
  ○ taken from "kubectl-ssaplan" (Apply): spec.replicas

Plan: 1 to update.
`)
	got := c.run("apply --yes -f scale.yaml --subresource scale -o json")
	require.Equal(t, 0, got.code, got.err)
	fitsSchema(t, got.out)
	var told struct {
		Plans, Results []struct{ Subresource string }
	}
	require.NoError(t, json.Unmarshal([]byte(got.out), &told))
	require.Len(t, told.Results, 1)
	assert.Equal(t, "scale", told.Plans[0].Subresource)
	assert.Equal(t, "scale", told.Results[0].Subresource)
	assert.Equal(t, "4", c.kubectl("get", "deployment", "web", "-o", "jsonpath={.spec.replicas}"))
	c.expect("plan -f scale.yaml --subresource scale", 0, "Plan: 1 unchanged.\n")
	got = c.run("plan -f app.yaml")
	assert.Contains(t, got.out, `~ spec.replicas: 4 → 2  # drifted: "kubectl-ssaplan" changed it (Apply of scale`)

	got = c.run("plan -f app.yaml --subresource scale")
	assert.Equal(t, 1, got.code)
	assert.Regexp(t, `Kind=Scale\): \.spec\.(selector|template): field not declared in schema`, got.err, "a scale is the replicas alone")
}

// A state file tells an object from its subresources, also where all of them come from one document of one file.
func TestStateFileOfSubresources(t *testing.T) {
	c := newCluster(t)
	write(t, nil)
	manifests := []struct{ subresource, text string }{
		{"", strings.NewReplacer("  replicas: 2\n", "", "1000m", `"1"`).Replace(deployment)}, {"status", deploymentStatus}, {"scale", deploymentScale},
	}
	line := func(subresource, text string) string {
		require.NoError(t, os.WriteFile("web.yaml", []byte(text), 0o600))
		return "-f web.yaml --state state.json --subresource=" + subresource
	}
	for _, m := range manifests {
		c.apply(line(m.subresource, m.text))
		lab.NextSecond() // records of one second change places later
	}
	text, err := os.ReadFile("state.json")
	require.NoError(t, err)
	assert.Equal(t, 3, strings.Count(string(text), `"source": "web.yaml#1"`))
	for _, m := range manifests {
		c.expect("plan "+line(m.subresource, m.text), 0, "Plan: 1 unchanged.\n")
	}

	c.kubectl("patch", "deployment", "web", "--subresource", "status", "--type", "json", "-p", `[{"op":"remove","path":"/status/readyReplicas"}]`)
	got := c.run("plan " + line("status", deploymentStatus))
	assert.Contains(t, got.out, "web (status)  update: 1 drifted\n", "only what is remembered of the status tells who removed it")
	c.expect("plan "+line("", manifests[0].text), 0, "Plan: 1 unchanged.\n")

	got = c.run("plan " + line("status", strings.ReplaceAll(deploymentStatus, "name: web", "name: other")))
	assert.Equal(t, 1, got.code)
	assert.Contains(t, got.err, "create it first", "another object's status isn't one that was renamed")
}
