package cmd_test

import (
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
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
