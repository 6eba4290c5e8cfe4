package ssaplan_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/ssaplan"
)

// An encoder that was told not to escape for HTML doesn't, and one that wasn't told does.
func TestPlanLeavesEscapingToTheEncoder(t *testing.T) {
	plan := &ssaplan.Plan{Action: ssaplan.Replace, Reason: "a -> b"}
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
