package ssaplan_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/explain"
)

// Whichever way a plan or its changes are encoded, nothing but what may be shown comes out.
func TestEveryEncodingShowsTheSame(t *testing.T) {
	secret := projection.Difference{Path: path("data.password"), Op: projection.OpChange, Before: "b2xk", After: "bmV3", Sensitive: true}
	plan := ssaplan.Plan{
		Action:      ssaplan.ActionUpdate,
		Explanation: explain.Explanation{Changes: []explain.Change{{Difference: secret, Cause: explain.CauseDrifted, Manager: "kubectl"}}},
	}
	value, err := json.Marshal(map[string]any{"plan": plan, "changes": plan.Changes})
	require.NoError(t, err)
	pointer, err := json.Marshal(map[string]any{"plan": &plan, "changes": []*explain.Change{&plan.Changes[0]}})
	require.NoError(t, err)
	require.JSONEq(t, string(pointer), string(value))
	require.JSONEq(t, `{
		"plan": {"version": 1, "object": {"apiVersion": "", "kind": "", "name": ""}, "action": "Update", "reason": "", "requests": 0, "changes": [
			{"path": "data.password", "cause": "Drifted", "manager": "kubectl", "before": "<redacted>", "after": "<redacted: changed>", "sensitive": true}]},
		"changes": [
			{"path": "data.password", "cause": "Drifted", "manager": "kubectl", "before": "<redacted>", "after": "<redacted: changed>", "sensitive": true}]
	}`, string(value))
}

func path(text string) projection.Path {
	p, err := projection.ParsePath(text)
	if err != nil {
		panic(err)
	}
	return p
}

// An encoder that was told not to escape for HTML doesn't, and one that wasn't told does.
func TestPlanLeavesEscapingToTheEncoder(t *testing.T) {
	plan := &ssaplan.Plan{Action: ssaplan.ActionReplace, Reason: "a -> b"}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	require.NoError(t, encoder.Encode(plan))
	assert.Contains(t, text.String(), `"a -> b"`)

	escaped, err := json.Marshal(plan)
	require.NoError(t, err)
	assert.Contains(t, string(escaped), `"a -\u003e b"`)
	assert.JSONEq(t, text.String(), string(escaped))
}
