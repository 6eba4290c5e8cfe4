package cmd_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// planSchema describes what plan and apply print.
var planSchema = schemaAt("")

// schemaAt returns the schema of a place in the file.
func schemaAt(place string) func() *jsonschema.Schema {
	return sync.OnceValue(func() *jsonschema.Schema {
		return jsonschema.NewCompiler().MustCompile(filepath.Join(sources, "../../../docs/plan.schema.json") + place)
	})
}

// fitsSchema expects the JSON output of plan or apply.
func fitsSchema(t *testing.T, out string) {
	t.Helper()
	decoded, err := jsonschema.UnmarshalJSON(strings.NewReader(out))
	require.NoError(t, err, out)
	require.NoError(t, planSchema().Validate(decoded), out)
}

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
