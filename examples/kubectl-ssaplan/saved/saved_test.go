package saved_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/ssaplan/primitives/examples/kubectl-ssaplan/saved"
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

func TestParseFindsStatus(t *testing.T) {
	want, text := savedStatus(t)
	wrapped, err := json.Marshal(&apierrors.StatusError{ErrStatus: want})
	require.NoError(t, err)
	var sorted map[string]any
	require.NoError(t, json.Unmarshal([]byte(text), &sorted))
	alphabetic, err := json.MarshalIndent(sorted, "", "  ")
	require.NoError(t, err)
	withoutKind := *want.DeepCopy()
	withoutKind.TypeMeta = metav1.TypeMeta{}
	decoded, err := json.Marshal(withoutKind)
	require.NoError(t, err)
	wrappedDecoded, err := json.Marshal(&apierrors.StatusError{ErrStatus: withoutKind})
	require.NoError(t, err)
	tests := []struct{ name, input, why string }{
		{"without kind", string(decoded), "as client-go marshals the status that it decoded"},
		{"without kind, in a log", `W1 failed: ` + string(decoded) + "\n", "as a program logs it"},
		{"without kind, quoted", fmt.Sprintf(`{"level":"error","status":%q}`, decoded), "as a string in another object"},
		{"StatusError without kind", string(wrappedDecoded), "as client-go's error encodes after a request"},
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
			got, err := saved.Parse([]byte(tt.input))
			require.NoError(t, err, tt.why)
			assert.False(t, got.Prose, tt.why)
			assert.Equal(t, want.Details, got.Status.Details, tt.why)
			assert.True(t, got.Verdict().Replaceable(), tt.why)
			assert.Equal(t, immutability.Classify(got.Err()), got.Verdict())
		})
	}
}

func TestParseReadsProse(t *testing.T) {
	const selector = `spec.selector: Invalid value: {"matchLabels":{"app":"b"}}: field is immutable`
	many := `Deployment.apps "web" is invalid: [spec.selector: Invalid value: {"matchLabels":{"app":"b, spec.replicas: Invalid value: 1"}}: field is immutable, spec.replicas: Invalid value: -1: must be greater than or equal to 0]`
	immutable := immutability.Field{Text: "spec.selector", Message: "Invalid value: field is immutable"}
	replicas := immutability.Field{Text: "spec.replicas", Message: "Invalid value: must be greater than or equal to 0"}
	tests := []struct {
		name   string
		input  string
		kind   immutability.Refusal
		fields []immutability.Field
		why    string
	}{
		{"one cause", `Deployment.apps "web" is invalid: ` + selector, immutability.RefusalImmutable, []immutability.Field{immutable}, "the text of the error alone"},
		{"with client-go's and others' prefixes", `Error: apply web: The Deployment "web" is invalid: x: ` + many, immutability.RefusalInvalid, nil, "kubectl's own form has no group"},
		{"many causes", "apply failed: " + many, immutability.RefusalInvalid, []immutability.Field{immutable, replicas}, "values with the text of a cause in them"},
		{"no group", `Secret "web" is invalid: data: Forbidden: field is immutable when ` + "`immutable` is set", immutability.RefusalImmutable,
			[]immutability.Field{{Text: "data", Message: "Forbidden: field is immutable when `immutable` is set"}}, "the core group is left out"},
		{"keys in the path", `Pod "x" is invalid: metadata.annotations[container.apparmor.security.beta.kubernetes.io/c]: Forbidden: may not add AppArmor annotations`, immutability.RefusalImmutable,
			[]immutability.Field{{Text: "metadata.annotations[container.apparmor.security.beta.kubernetes.io/c]", Message: "Forbidden: may not add AppArmor annotations"}}, "brackets belong to the path"},
		{"strange name", `ClusterRole.rbac.authorization.k8s.io "a \"b\" is invalid: x" is invalid: rules: Required value`, immutability.RefusalInvalid,
			[]immutability.Field{{Text: "rules", Message: "Required value"}}, "quotes in a name are escaped"},
		{"unreadable causes", `Deployment.apps "web" is invalid: something else`, immutability.RefusalInvalid, nil, "no causes, no claims"},
		{"webhook", `Error from server: admission webhook "w.example.com" denied the request: Deployment.apps "web" is invalid: spec.selector: Invalid value: "b": field is immutable`, immutability.RefusalAdmissionDenied,
			[]immutability.Field{{Message: `admission webhook "w.example.com" denied the request: Deployment.apps "web" is invalid: spec.selector: Invalid value: "b": field is immutable`}}, "what the webhook quotes is its own"},
		{"policy", `configmaps "x" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: is immutable`, immutability.RefusalAdmissionDenied,
			[]immutability.Field{{Message: `ValidatingAdmissionPolicy 'p' with binding 'b' denied request: is immutable`}}, "a policy is admission, too"},
		{"rights", `deployments.apps "web" is forbidden: User "jane" cannot patch resource "deployments" in API group "apps" in the namespace "default"`, immutability.RefusalNone, nil, "no admission"},
		{"kubectl", `The Deployment "x" is invalid: ` + selector, immutability.RefusalImmutable, []immutability.Field{immutable},
			"one known kind has this name, since extensions is gone"},
		{"another group", `Deployment.example.com "x" is invalid: ` + selector, immutability.RefusalInvalid, []immutability.Field{immutable}, "a group in the text is not replaced"},
		{"core", `The Secret "x" is invalid: type: Invalid value: "b": field is immutable`, immutability.RefusalImmutable,
			[]immutability.Field{{Text: "type", Message: "Invalid value: field is immutable"}}, "kubectl's text of a kind without a group"},
		{"unknown kind", `The Widget "x" is invalid: ` + selector, immutability.RefusalInvalid, []immutability.Field{immutable}, "no known kind has this name"},
		{"odd path", `The CSIDriver "x" is invalid: spec.attachedRequired: Invalid value: true: field is immutable`, immutability.RefusalImmutable,
			[]immutability.Field{{Text: "spec.attachRequired", Message: "Invalid value: field is immutable"}}, "the kind's own paths are found too"},
		{"bullets", "The Deployment \"x\" is invalid: \n* " + selector + "\n* spec.replicas: Invalid value: -1: must be greater than or equal to 0", immutability.RefusalInvalid,
			[]immutability.Field{immutable, replicas}, "kubectl lists several causes in lines"},
		{"bullets, all immutable", "The Job \"x\" is invalid: \n* " + selector + "\n* spec.completions: Invalid value: 2: field is immutable\n", immutability.RefusalImmutable,
			[]immutability.Field{immutable, {Text: "spec.completions", Message: "Invalid value: field is immutable"}}, "each line is a cause"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := saved.Parse([]byte(tt.input))
			require.NoError(t, err, tt.why)
			assert.True(t, got.Prose)
			verdict := got.Verdict()
			assert.Equal(t, tt.kind, verdict.Refusal, tt.why)
			assert.Equal(t, tt.fields, verdict.Fields, tt.why)
			assert.False(t, verdict.Replaceable(), "prose proves nothing")
			if tt.kind == immutability.RefusalImmutable || tt.kind == immutability.RefusalInvalid {
				assert.NotEmpty(t, verdict.Uncertain, "and says so")
			}
		})
	}
}

func TestParseErrors(t *testing.T) {
	const empty = "no API status: the input is empty"
	const notFound = "no API status found: neither a JSON object of kind Status, nor the text of a refused object"
	for input, row := range map[string]struct{ want, why string }{
		"":                     {empty, "nothing"},
		" \n":                  {empty, "nothing but space"},
		`{"status":"Failure"}`: {notFound, "neither a code nor a reason"},
		`{"status":"Failure","kind":"Pod","code":1}`: {notFound, "another kind"},
		`{"kind":"Pod"}`:                                           {notFound, "no status"},
		"field is immutable":                                       {notFound, "no sentence"},
		`{"kind":"Status","code":`:                                 {notFound, "broken off"},
		`\"kind\":\"Status\" alone`:                                {notFound, "no string of JSON"},
		"failed to pull image: fetch token: Unauthorized":          {notFound, "other servers say this too"},
		"Unauthorized access was logged":                           {notFound, "a word of a sentence"},
		"smoking is forbidden: here":                               {notFound, "no user and no verb"},
		"Apply failed with 1 conflict: merge it yourself":          {notFound, "no manager"},
		"Apply failed with 1 conflict: conflict with m: .data.a":   {notFound, "a manager has quotes"},
		"Apply failed with 2 conflicts: conflicts with \"a\":\n.p": {notFound, "no field"},
		"Apply failed with 2 conflicts: conflicts with \"a\"\n- .": {notFound, "no manager's line"},
		"Error from server (Rebirth): x":                           {notFound, "a reason that isn't one"},
	} {
		_, err := saved.Parse([]byte(input))
		assert.EqualError(t, err, row.want, "%s: %s", input, row.why)
	}
}

// recorded returns the refusals of applies that servers gave.
func recorded(t testing.TB) map[string]metav1.Status {
	t.Helper()
	files, err := filepath.Glob("../../../immutability/testdata/v*/*.json")
	require.NoError(t, err)
	require.Greater(t, len(files), 400)
	all := map[string]metav1.Status{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		var record struct{ Apply metav1.Status }
		require.NoError(t, json.Unmarshal(text, &record))
		all[file] = record.Apply
	}
	return all
}

// TestProseOfRecordedStatuses reads the message of every recorded status as if only the text were left, and finds the
// same fields as in the causes.
func TestProseOfRecordedStatuses(t *testing.T) {
	for file, status := range recorded(t) {
		if !strings.Contains(status.Message, " is invalid: ") {
			continue
		}
		got, err := saved.Parse([]byte("Error: " + status.Message))
		require.NoError(t, err, file)
		verdict := got.Verdict()
		assert.False(t, verdict.Replaceable(), file)
		want := immutability.ClassifyStatus(status)
		assert.Equal(t, want.Refusal, verdict.Refusal, file)
		assert.ElementsMatch(t, want.Fields, verdict.Fields, file)
	}
}

func FuzzParse(f *testing.F) {
	_, text := savedStatus(f)
	f.Add(text)
	f.Add(fmt.Sprintf("%q", text))
	f.Add(`{"metadata":{},"status":"Failure","reason":"Invalid","code":422}`)
	f.Add(`Deployment.apps "web" is invalid: [spec.selector: Invalid value: {"a":"b"}: field is immutable, spec.a: Required value]`)
	f.Add(`admission webhook "w" denied the request: no`)
	f.Add("The Job \"x\" is invalid: \n* spec.selector: Invalid value: 1: field is immutable\n* spec.completions: Invalid value: 2: field is immutable")
	f.Add("Apply failed with 2 conflicts: conflicts with \"a\":\n- .p1\nconflicts with \"b\" using v1:\n- .p2")
	f.Fuzz(func(t *testing.T, text string) {
		got, err := saved.Parse([]byte(text))
		if err != nil {
			assert.Zero(t, got)
			return
		}
		if got.Prose {
			assert.False(t, got.Verdict().Replaceable(), "prose proves nothing")
		}
	})
}
