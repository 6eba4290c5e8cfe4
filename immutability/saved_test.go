package immutability_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/ssaplan/primitives/immutability"
)

func savedStatus(t testing.TB) (metav1.Status, string) {
	t.Helper()
	err := apierrors.NewInvalid(schema.GroupKind{Group: "apps", Kind: "Deployment"}, "web", field.ErrorList{
		field.Invalid(field.NewPath("spec", "selector"), map[string]any{"matchLabels": map[string]any{"app": `b", {[`}}, "field is immutable"),
	})
	err.ErrStatus.TypeMeta = metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}
	text, jsonErr := json.Marshal(err.ErrStatus)
	require.NoError(t, jsonErr)
	return err.ErrStatus, string(text)
}

func TestParseSavedFindsStatus(t *testing.T) {
	want, text := savedStatus(t)
	wrapped, err := json.Marshal(&apierrors.StatusError{ErrStatus: want})
	require.NoError(t, err)
	var sorted map[string]any
	require.NoError(t, json.Unmarshal([]byte(text), &sorted))
	alphabetic, err := json.MarshalIndent(sorted, "", "  ")
	require.NoError(t, err)
	tests := []struct{ name, input, why string }{
		{"bare", text, "as the server sends it"},
		{"with spaces", " \n" + text + "\n", "as an editor saves it"},
		{"indented", string(alphabetic), "as kubectl prints objects: details come before kind"},
		{"StatusError", string(wrapped), "as client-go's error encodes"},
		{"in a log", "I0501 10:00:00.1 request.go:1] Response Body: " + text + "\nmore", "as kubectl -v=8 logs it"},
		{"after other JSON", `{"level":"error"} ` + text, "as a structured log has it"},
		{"quoted", fmt.Sprintf("an error on the server (%q) has prevented the request from succeeding", text), "as client-go prints a body that it could not use"},
		{"in a JSON log", fmt.Sprintf(`{"level":"error","body":%q}`, text), "as a string in another object"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := immutability.ParseSaved([]byte(tt.input))
			require.NoError(t, err, tt.why)
			assert.False(t, got.Prose, tt.why)
			assert.Equal(t, want.Details, got.Status.Details, tt.why)
			assert.True(t, got.Verdict().Replaceable(), tt.why)
			assert.Equal(t, immutability.Classify(got.Err()), got.Verdict())
		})
	}
}

func TestParseSavedReadsProse(t *testing.T) {
	many := `Deployment.apps "web" is invalid: [spec.selector: Invalid value: {"matchLabels":{"app":"b, spec.replicas: Invalid value: 1"}}: field is immutable, spec.replicas: Invalid value: -1: must be greater than or equal to 0]`
	tests := []struct {
		name   string
		input  string
		kind   immutability.Refusal
		fields []immutability.Field
		why    string
	}{
		{"one cause", `Deployment.apps "web" is invalid: spec.selector: Invalid value: {"matchLabels":{"app":"b"}}: field is immutable`, immutability.RefusalImmutable,
			[]immutability.Field{{Path: "spec.selector", Message: "Invalid value: field is immutable"}}, "the text of the error alone"},
		{"with client-go's and others' prefixes", `Error: apply web: The Deployment "web" is invalid: x: ` + many, immutability.RefusalInvalid, nil, "kubectl's own form has no group"},
		{"many causes", "apply failed: " + many, immutability.RefusalInvalid, []immutability.Field{
			{Path: "spec.selector", Message: "Invalid value: field is immutable"},
			{Path: "spec.replicas", Message: "Invalid value: must be greater than or equal to 0"},
		}, "values with the text of a cause in them"},
		{"no group", `Secret "web" is invalid: data: Forbidden: field is immutable when ` + "`immutable` is set", immutability.RefusalImmutable,
			[]immutability.Field{{Path: "data", Message: "Forbidden: field is immutable when `immutable` is set"}}, "the core group is left out"},
		{"keys in the path", `Pod "x" is invalid: metadata.annotations[container.apparmor.security.beta.kubernetes.io/c]: Forbidden: may not add AppArmor annotations`, immutability.RefusalImmutable,
			[]immutability.Field{{Path: "metadata.annotations[container.apparmor.security.beta.kubernetes.io/c]", Message: "Forbidden: may not add AppArmor annotations"}}, "brackets belong to the path"},
		{"strange name", `ClusterRole.rbac.authorization.k8s.io "a \"b\" is invalid: x" is invalid: rules: Required value`, immutability.RefusalInvalid,
			[]immutability.Field{{Path: "rules", Message: "Required value"}}, "quotes in a name are escaped"},
		{"unreadable causes", `Deployment.apps "web" is invalid: something else`, immutability.RefusalInvalid, nil, "no causes, no claims"},
		{"webhook", `Error from server: admission webhook "w.example.com" denied the request: Deployment.apps "web" is invalid: spec.selector: Invalid value: "b": field is immutable`, immutability.RefusalAdmissionDenied,
			[]immutability.Field{{Message: `admission webhook "w.example.com" denied the request: Deployment.apps "web" is invalid: spec.selector: Invalid value: "b": field is immutable`}}, "what the webhook quotes is its own"},
		{"policy", `configmaps "x" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: is immutable`, immutability.RefusalAdmissionDenied,
			[]immutability.Field{{Message: `ValidatingAdmissionPolicy 'p' with binding 'b' denied request: is immutable`}}, ""},
		{"rights", `deployments.apps "web" is forbidden: User "jane" cannot patch resource "deployments" in API group "apps" in the namespace "default"`, immutability.RefusalNone, nil, "no admission"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := immutability.ParseSaved([]byte(tt.input))
			require.NoError(t, err, tt.why)
			assert.True(t, got.Prose)
			verdict := got.Verdict()
			assert.Equal(t, tt.kind, verdict.Refusal, tt.why)
			assert.Equal(t, tt.fields, verdict.Fields, tt.why)
			assert.False(t, verdict.Replaceable(), "prose proves nothing")
		})
	}
}

func TestParseSavedErrors(t *testing.T) {
	for input, want := range map[string]string{
		"":                          "immutability: no API status: the input is empty",
		" \n":                       "immutability: no API status: the input is empty",
		`{"kind":"Pod"}`:            "immutability: no API status found: neither a JSON object of kind Status, nor the text of a refused object",
		"field is immutable":        "immutability: no API status found: neither a JSON object of kind Status, nor the text of a refused object",
		`{"kind":"Status","code":`:  "immutability: no API status found: neither a JSON object of kind Status, nor the text of a refused object",
		`\"kind\":\"Status\" alone`: "immutability: no API status found: neither a JSON object of kind Status, nor the text of a refused object",
	} {
		_, err := immutability.ParseSaved([]byte(input))
		assert.EqualError(t, err, want, input)
	}
}

// TestProseOfRecordedStatuses reads the message of every recorded status as if only the text were left, and finds the
// same fields as in the causes.
func TestProseOfRecordedStatuses(t *testing.T) {
	for _, file := range recordedFiles(t) {
		r := readRecord(t, file)
		if !strings.Contains(r.Apply.Message, " is invalid: ") {
			continue
		}
		got, err := immutability.ParseSaved([]byte("Error: " + r.Apply.Message))
		require.NoError(t, err, file)
		verdict := got.Verdict()
		assert.False(t, verdict.Replaceable(), file)
		want := immutability.ClassifyStatus(r.Apply)
		assert.Equal(t, want.Refusal, verdict.Refusal, file)
		assert.ElementsMatch(t, want.Fields, verdict.Fields, file)
	}
}
