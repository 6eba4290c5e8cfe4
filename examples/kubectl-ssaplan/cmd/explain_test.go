package cmd_test

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

// The tests of package render explain recorded answers of servers of each kind. The command reads an answer from a file
// or from standard input, and prints the explanation in each format.
func TestExplain(t *testing.T) {
	content, err := os.ReadFile("../../../immutability/testdata/v1.33.13/deployment-selector.json")
	require.NoError(t, err)
	var recorded struct{ Apply json.RawMessage }
	require.NoError(t, json.Unmarshal(content, &recorded))
	write(t, map[string]string{"status.json": string(recorded.Apply)})
	const want = `{"class":"Invalid","immutability":{"verdict":"Immutable","replaceable":true,"fields":[{"path":"spec.selector","message":"Invalid value: field is immutable"}]},"conflicts":[],"degradable":false}`
	for _, file := range []string{"status.json", "-"} {
		explained := func(flags ...string) string {
			got := run(t.Context(), string(recorded.Apply), append([]string{"explain", "-f", file}, flags...)...)
			assert.Equal(t, result{0, got.out, ""}, got, file)
			return got.out
		}
		assert.JSONEq(t, want, explained("-o", "json"), file)
		converted, err := yaml.YAMLToJSON([]byte(explained("-o", "yaml")))
		require.NoError(t, err)
		assert.JSONEq(t, want, string(converted), file)
		assert.Equal(t, `Invalid: validation refused the object: a value isn't allowed, or may not change
    object: Deployment.apps "deployment-selector"
    to do: keep the fields as they are, or replace the object (kubectl ssaplan apply --replace)

verdict Immutable: these fields can't change while the object exists; deleting and re-creating the object works
  ± spec.selector: Invalid value: field is immutable
`, explained(), file)
	}
}
