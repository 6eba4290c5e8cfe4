package cmd_test

import (
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"
)

// The tests run in folders of their own, so the file is read before.
var planSchema = jsonschema.NewCompiler().MustCompile("../../../docs/plan.schema.json")

// fitsSchema expects the JSON output of plan or apply.
func fitsSchema(t *testing.T, out string) {
	t.Helper()
	decoded, err := jsonschema.UnmarshalJSON(strings.NewReader(out))
	require.NoError(t, err, out)
	require.NoError(t, planSchema.Validate(decoded), out)
}
