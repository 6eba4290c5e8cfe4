package cmd_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// resultSchema describes a line of -o jsonl.
var resultSchema = schemaAt("#/$defs/result")

// outcomes returns the lines of -o jsonl in short.
func outcomes(t *testing.T, out string) (lines []string) {
	t.Helper()
	for line := range strings.Lines(out) {
		decoded, err := jsonschema.UnmarshalJSON(strings.NewReader(line))
		require.NoError(t, err, line)
		require.NoError(t, resultSchema().Validate(decoded), line)
		var result struct {
			Object                          struct{ Kind, Name string }
			Action, Outcome, Message, Waits string
			ResourceVersion                 string
			Ready                           *bool
		}
		require.NoError(t, json.Unmarshal([]byte(line), &result))
		text := strings.Join([]string{result.Object.Kind, result.Object.Name, result.Action, result.Outcome}, " ")
		if result.Ready != nil {
			text += map[bool]string{true: " ready", false: " not ready"}[*result.Ready]
		}
		assert.Equal(t, result.Outcome == "Done" && result.Action != "Prune", result.ResourceVersion != "", line)
		lines = append(lines, text)
	}
	return lines
}

// A program reads what becomes of each object as it is known, and when it is ready.
func TestOutcomesAndReadiness(t *testing.T) {
	c := newCluster(t)
	write(t, map[string]string{"app.yaml": configMap("conf", "x") + "---\n" + configMap("old", "x") + "---\n" + deployment})
	got := c.run("apply --yes -f app.yaml -o jsonl --wait --timeout 10s --state state.json")
	assert.Equal(t, 1, got.code)
	assert.Equal(t, []string{
		"ConfigMap conf Create Done", "ConfigMap old Create Done", "Deployment web Create Done",
		"ConfigMap conf Create Done ready", "ConfigMap old Create Done ready", "Deployment web Create Done not ready",
	}, outcomes(t, got.out))
	assert.Contains(t, got.err, "not ready: apps/v1/Deployment "+c.Namespace+"/web: InProgress: ")

	c.kubectl("patch", "deployment", "web", "--subresource", "status", "--type", "merge", "-p", `{"status": {"observedGeneration": 1, "replicas": 2,
		"updatedReplicas": 2, "readyReplicas": 2, "availableReplicas": 2, "conditions": [{"type": "Available", "status": "True"},
		{"type": "Progressing", "status": "True", "reason": "NewReplicaSetAvailable"}]}}`)
	c.overwrite("app.yaml", configMap("conf", "b")+"---\n"+deployment)
	got = c.run("apply --yes -f app.yaml -o jsonl --wait --prune --state state.json")
	assert.Equal(t, 0, got.code, got.err)
	assert.Equal(t, []string{
		"ConfigMap conf Update Done", "Deployment web NoOp Done", "ConfigMap old Prune Done", "ConfigMap conf Update Done ready", "Deployment web NoOp Done ready",
	}, outcomes(t, got.out))

	c.overwrite("app.yaml", configMap("conf", "z")+"---\n"+strings.Replace(deployment, "replicas: 2", "replicas: -2", 1))
	got = c.run("apply --yes -f app.yaml -o jsonl")
	assert.Equal(t, 1, got.code)
	assert.Equal(t, []string{"Deployment web  NotSent"}, outcomes(t, got.out))
	got = c.run("apply --yes --keep-going -f app.yaml -o jsonl")
	assert.Equal(t, []string{"Deployment web  NotSent", "ConfigMap conf Update Done"}, outcomes(t, got.out))
	got = c.run("apply --yes --wait --ready ConfigMap=Ready --timeout 10s -f app.yaml --include kind=ConfigMap -o json")
	fitsSchema(t, got.out)
	assert.Contains(t, got.out, `"waits":"it has no condition Ready yet"`)
	assert.Contains(t, c.run("apply --yes --ready ConfigMap -f app.yaml").err, "--ready: \"ConfigMap\": expected a kind and a condition")
}
