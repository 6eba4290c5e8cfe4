package render_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/examples/kubectl-ssaplan/render"
	"github.com/ssaplan/primitives/examples/kubectl-ssaplan/saved"
)

// recorded are statuses that servers gave.
var recorded = []struct{ why, file string }{
	{"a field that can't change", "immutability/testdata/v1.37.2/deployment-selector.json"},
	{"a field of which the status alone doesn't say enough", "immutability/testdata/v1.37.2/statefulset-claims.json"},
	{"a field that changes in one direction", "immutability/testdata/v1.37.2/claim-shrink.json"},
	{"a value that isn't allowed", "immutability/testdata/v1.37.2/deployment-replicas-invalid.json"},
	{"metadata of another life", "immutability/testdata/v1.37.2/metadata-uid.json"},
	{"a default in the way", "immutability/testdata/v1.37.2/deployment-recreate.json"},
	{"a webhook that lies", "immutability/testdata/v1.37.2/webhook-forged.json"},
	{"the rule of a custom resource", "immutability/testdata/v1.37.2/widget-own-message.json"},
	{"conflicts", "fieldowner/testdata/conflict.json"},
}

// spoken are errors as client-go prints them, and statuses of which no file is about.
var spoken = []struct{ why, text string }{
	{"nobody knows the caller", `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"Unauthorized","reason":"Unauthorized","code":401}`},
	{"the caller may not", `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"configmaps \"a\" is forbidden: User \"jane\" cannot get resource \"configmaps\" in API group \"\" in the namespace \"shop\"","reason":"Forbidden","details":{"name":"a","kind":"configmaps"},"code":403}`},
	{"the text of a refused object", `Error: Deployment.apps "web" is invalid: spec.selector: Invalid value: {"matchLabels":{"app":"b"}}: field is immutable`},
	{"an escape sequence", `{"kind":"Status","status":"Failure","message":"x","reason":"NotFound","details":{"name":"\u001b[2J","kind":"con\u001b[2Jfigmaps"},"code":404}`},
}

func parsed(t *testing.T, text []byte) saved.Error {
	t.Helper()
	s, err := saved.Parse(text)
	require.NoError(t, err)
	return s
}

// explained calls check with each of the recorded statuses, in their order.
func explained(t *testing.T, check func(why string, e render.Explanation)) {
	t.Helper()
	for _, r := range recorded {
		text, err := os.ReadFile(filepath.Join("../../..", r.file))
		require.NoError(t, err)
		check(r.why, render.Explain(parsed(t, text)))
	}
	for _, s := range spoken {
		check(s.why, render.Explain(parsed(t, []byte(s.text))))
	}
}

func TestExplanation(t *testing.T) {
	var out strings.Builder
	explained(t, func(why string, e render.Explanation) {
		out.WriteString("### " + why + "\n" + render.Text{}.Explanation(e) + "\n")
	})
	golden(t, "explanation.txt", out.String())
	assert.NotContains(t, out.String(), "\x1b")
}

func TestExplanationJSON(t *testing.T) {
	var out strings.Builder
	explained(t, func(why string, e render.Explanation) {
		text, err := e.JSON()
		require.NoError(t, err)
		out.WriteString("### " + why + "\n" + string(text))

		var got map[string]any
		require.NoError(t, json.Unmarshal(text, &got))
		assert.Len(t, got, 4, "only what the contract says")
		assert.NotNil(t, got["conflicts"], "an empty list, not null")
		verdict := got["immutability"].(map[string]any)
		assert.Len(t, verdict, 3)
		assert.NotNil(t, verdict["fields"], "an empty list, not null")
	})
	golden(t, "explanation.json.txt", out.String())
}
