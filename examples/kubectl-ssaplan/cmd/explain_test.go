package cmd_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

// recordedStatus returns what a real server said to the apply of the named case.
func recordedStatus(t *testing.T, name string) (text []byte, message string) {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("../../../immutability/testdata/v1.33.13", name+".json"))
	require.NoError(t, err)
	var recorded struct {
		Apply json.RawMessage `json:"apply"`
	}
	require.NoError(t, json.Unmarshal(content, &recorded))
	var status struct{ Message string }
	require.NoError(t, json.Unmarshal(recorded.Apply, &status))
	require.NotEmpty(t, status.Message)
	return recorded.Apply, status.Message
}

func TestExplain(t *testing.T) {
	const failure = `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure",`
	recorded := func(name string) string {
		text, _ := recordedStatus(t, name)
		return string(text)
	}
	prose := func(name string) string {
		_, message := recordedStatus(t, name)
		return "failed to apply: " + message + "\n"
	}
	tests := []struct{ why, input, want string }{
		{"immutable", recorded("deployment-selector"), `{"class":"Invalid","immutability":{"verdict":"Immutable","replaceable":true,"fields":[{"path":"spec.selector","message":"Invalid value: field is immutable"}]},"conflicts":[],"degradable":false}`},
		{"the same as a text proves less", prose("deployment-selector"), `{"class":"Invalid","immutability":{"verdict":"Immutable","replaceable":false,"fields":[{"path":"spec.selector","message":"Invalid value: field is immutable"}]},"conflicts":[],"degradable":false}`},
		{"one way", recorded("claim-shrink"), `{"class":"Invalid","immutability":{"verdict":"Directional","replaceable":false,"fields":[{"path":"spec.resources.requests.storage","message":"Forbidden: field can not be less than status.capacity"}]},"conflicts":[],"degradable":false}`},
		{"invalid", recorded("deployment-replicas-invalid"), `{"class":"Invalid","immutability":{"verdict":"Invalid","replaceable":false,"fields":[{"path":"spec.replicas","message":"Invalid value: must be greater than or equal to 0"}]},"conflicts":[],"degradable":false}`},
		{"conflict", failure + `"reason":"Conflict","code":409,"message":"Apply failed with 1 conflict: conflict with \"kubectl\" with subresource \"scale\" using apps/v1: .spec.replicas","details":{"causes":[{"reason":"FieldManagerConflict","message":"conflict with \"kubectl\" with subresource \"scale\" using apps/v1","field":".spec.replicas"}]}}`,
			`{"class":"Conflict","immutability":{"verdict":"None","replaceable":false,"fields":[]},"conflicts":[{"path":"spec.replicas","manager":"kubectl","operation":"Update","subresource":"scale","apiVersion":"apps/v1"}],"degradable":false}`},
		{"401", failure + `"reason":"Unauthorized","code":401,"message":"Unauthorized"}`, `{"class":"Authentication","immutability":{"verdict":"None","replaceable":false,"fields":[]},"conflicts":[],"degradable":true}`},
		{"403", failure + `"reason":"Forbidden","code":403,"message":"pods \"a\" is forbidden: User \"jane\" cannot get resource \"pods\" in API group \"\" in the namespace \"x\"","details":{"name":"a","kind":"pods"}}`,
			`{"class":"Authorization","immutability":{"verdict":"None","replaceable":false,"fields":[]},"conflicts":[],"degradable":true}`},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			dir := t.TempDir()
			file := filepath.Join(dir, "status.json")
			require.NoError(t, os.WriteFile(file, []byte(tt.input), 0o600))
			got := run(t.Context(), "", "explain", "-f", file, "-o", "json")
			assert.Equal(t, 0, got.code, got.err)
			assert.JSONEq(t, tt.want, got.out)
			assert.Equal(t, got, run(t.Context(), tt.input, "explain", "-f", "-", "-o", "json"), "standard input")

			asYAML := run(t.Context(), "", "explain", "-f", file, "-o", "yaml")
			converted, err := yaml.YAMLToJSON([]byte(asYAML.out))
			require.NoError(t, err)
			assert.JSONEq(t, tt.want, string(converted))
		})
	}
}

func TestExplainAsText(t *testing.T) {
	text, _ := recordedStatus(t, "deployment-selector")
	assert.Equal(t, result{0, `Invalid: validation refused the object: a value isn't allowed, or may not change
    object: Deployment.apps "deployment-selector"
    to do: keep the fields as they are, or replace the object (kubectl ssaplan apply --replace)

verdict Immutable: these fields can't change while the object exists; deleting and re-creating the object works
  ± spec.selector: Invalid value: field is immutable
`, ""}, run(t.Context(), string(text), "explain", "-f", "-"))
}

func TestExplainIsBounded(t *testing.T) {
	const want = ": is larger than 64 MiB; check what it is, or split it up\n"
	write(t, map[string]string{"status.json": "", "good": goodKubeconfig})
	require.NoError(t, os.Truncate("status.json", 64<<20+1))
	assert.Equal(t, result{1, "", "status.json" + want}, run(t.Context(), "", "explain", "-f", "status.json"))
	assert.Equal(t, result{1, "", "standard input" + want}, run(t.Context(), strings.Repeat(" ", 64<<20+1), "explain", "-f", "-"))
	assert.Equal(t, result{1, "Plan: 1 error.\n", "status.json" + want}, run(t.Context(), "", "plan", "-f", "status.json", "--kubeconfig", "good"), "as with manifests")
}

func TestExplainNothing(t *testing.T) {
	for input, want := range map[string]string{
		"":         "standard input: no API status: the input is empty\n",
		"{}":       "standard input: no API status found: neither a JSON object of kind Status, nor the text of a refused object\n",
		"all well": "standard input: no API status found: neither a JSON object of kind Status, nor the text of a refused object\n",
		`{"kind":"Status","apiVersion":"v1","status":"Success"}`: "standard input: the status says Success, so there is no error to explain\n",
	} {
		assert.Equal(t, result{1, "", want}, run(t.Context(), input, "explain", "-f", "-"), input)
	}
}
