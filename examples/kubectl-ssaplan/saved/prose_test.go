package saved_test

import (
	"encoding/json"
	"net/http"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ssaplan/primitives/examples/kubectl-ssaplan/saved"
	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/immutability"
)

// advice is what kubectl adds to a conflict.
const advice = `
Please review the fields above--they currently have other managers. Here
are the ways you can resolve this warning:
* If you intend to manage all of these fields, please re-run the apply
  command with the ` + "`--force-conflicts`" + ` flag.
See https://kubernetes.io/docs/reference/using-api/server-side-apply/#conflicts`

func TestParseReadsConflicts(t *testing.T) {
	one := `Apply failed with 1 conflict: conflict with "m": .data.a`
	many := "Apply failed with 3 conflicts: conflicts with \"a\":\n- .p1\n- .p2\nconflicts with \"b\" using v1:\n- .p3"
	three := [][2]string{{".p1", `conflict with "a"`}, {".p2", `conflict with "a"`}, {".p3", `conflict with "b" using v1`}}
	tests := []struct {
		name, input, message string
		causes               [][2]string
		why                  string
	}{
		{"one", one, one, [][2]string{{".data.a", `conflict with "m"`}}, "client-go's text"},
		{"one, from kubectl", "error: " + one + advice, one, [][2]string{{".data.a", `conflict with "m"`}}, "the advice is no part of the path"},
		{"one, by an update", `Apply failed with 1 conflict: conflict with "m" with subresource "scale" using apps/v1: .spec.replicas`, "",
			[][2]string{{".spec.replicas", `conflict with "m" with subresource "scale" using apps/v1`}}, "the manager goes up to the path"},
		{"one, from an old server", `Apply failed with 1 conflict: conflict with "m" using v1 at 2020-01-02T03:04:05Z: .data.a`, "",
			[][2]string{{".data.a", `conflict with "m" using v1 at 2020-01-02T03:04:05Z`}}, "a time has colons"},
		{"many", many, many, three, "client-go's text"},
		{"many, from kubectl", "W1 a warning\nerror: " + many + advice, many, three, "the advice has a list of its own"},
		{"many, indented", "failed:\r\n  Apply failed with 1 conflicts: conflicts with \"a\":\r\n  - .p1\r\n", "", [][2]string{{".p1", `conflict with "a"`}}, "as a log prints it"},
		{"strange manager", `Apply failed with 1 conflict: conflict with "m\": .x using v1: ": .data.a`, "",
			[][2]string{{".data.a", `conflict with "m\": .x using v1: "`}}, "quotes in a name are escaped"},
		{"strange key", `Apply failed with 1 conflict: conflict with "m": .l[name="a: b"].x y`, "",
			[][2]string{{`.l[name="a: b"].x y`, `conflict with "m"`}}, "the path is all the rest of the line"},
		{"repeated path", "Apply failed with 2 conflicts: conflicts with \"a\":\n- .p\nconflicts with \"a\" using v1:\n- .p", "",
			[][2]string{{".p", `conflict with "a"`}, {".p", `conflict with "a" using v1`}}, "two entries of one manager are two owners"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := saved.Parse([]byte(tt.input))
			require.NoError(t, err, tt.why)
			assert.True(t, got.Prose)
			assert.True(t, apierrors.IsConflict(got.Err()), tt.why)
			assert.EqualValues(t, http.StatusConflict, got.Status.Code)
			require.NotNil(t, got.Status.Details)
			var causes [][2]string
			for _, c := range got.Status.Details.Causes {
				assert.Equal(t, metav1.CauseTypeFieldManagerConflict, c.Type)
				causes = append(causes, [2]string{c.Field, c.Message})
			}
			assert.Equal(t, tt.causes, causes, tt.why)
			if tt.message != "" {
				assert.Equal(t, tt.message, got.Status.Message, tt.why)
			}
			assert.Len(t, fieldowner.ConflictsFromError(got.Err(), nil), len(tt.causes), "the reader of statuses understands it")
			assert.Equal(t, immutability.RefusalNone, got.Verdict().Refusal, "a conflict says nothing about the content")
		})
	}
}

// TestProseOfRecordedConflict reads the message of a recorded conflict as if only the text were left.
func TestProseOfRecordedConflict(t *testing.T) {
	text, err := os.ReadFile("../../../fieldowner/testdata/conflict.json")
	require.NoError(t, err)
	var want metav1.Status
	require.NoError(t, json.Unmarshal(text, &want))
	got, err := saved.Parse([]byte("error: " + want.Message + advice))
	require.NoError(t, err)
	assert.Equal(t, want.Message, got.Status.Message)
	assert.ElementsMatch(t, want.Details.Causes, got.Status.Details.Causes)
	assert.Equal(t, fieldowner.ConflictsFromError(&apierrors.StatusError{ErrStatus: want}, nil), fieldowner.ConflictsFromError(got.Err(), nil))
}

// TestStatusWithoutGroup holds a status and prose apart: only prose can have lost the group.
func TestStatusWithoutGroup(t *testing.T) {
	prose, err := saved.Parse([]byte(`The Deployment "x" is invalid: spec.selector: Invalid value: "b": field is immutable`))
	require.NoError(t, err)
	assert.Empty(t, prose.Status.Details.Group, "the status has what the text has")
	assert.False(t, immutability.Classify(prose.Err()).Replaceable(), "the error is classified without a guess at the group")

	status := prose
	status.Prose = false
	assert.Equal(t, immutability.RefusalInvalid, status.Verdict().Refusal, "a status without a group speaks of the core group")
}

func TestProseCompletesTheGroup(t *testing.T) {
	for kind, row := range map[string]struct {
		known bool
		why   string
	}{
		`Deployment" x" is invalid: spec.selector`:                {false, "no sentence"},
		`The Job "x" is invalid: spec.selector`:                   {true, "one group has it"},
		`The CustomResourceDefinition "x" is invalid: spec.scope`: {true, "not among the kinds of client-go"},
		`The PodGroup "x" is invalid: spec.schedulingPolicy`:      {true, "newer than the lowest client-go"},
		`The Event "x" is invalid: action`:                        {true, "two groups have it, and the server names the core group"},
		`The Deploy "x" is invalid: spec.selector`:                {false, "the kind has to fit as a whole"},
		`Deployment.extensions "x" is invalid: spec.selector`:     {false, "a group in the text is not replaced"},
		`The Status "x" is invalid: spec.selector`:                {false, "of no resource"},
	} {
		got, err := saved.Parse([]byte(kind + `: Invalid value: "b": field is immutable`))
		if !row.known && err != nil {
			continue
		}
		require.NoError(t, err, row.why)
		assert.Equal(t, row.known, got.Verdict().Refusal == immutability.RefusalImmutable, "%s: %s", kind, row.why)
	}
}
