package immutability

import (
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// TestOfCreate checks the verdict on what can't be created: it is invalid, whatever seemed to be immutable, unless a policy denies it.
func TestOfCreate(t *testing.T) {
	manifest := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"until": nil}}}
	verdict := Verdict{Refusal: RefusalImmutable, Certainty: CertaintyAssumed, Uncertain: "who knows", Fields: []Field{{Text: "spec.until"}}}
	made := verdict.OfCreate(manifest)
	require.Equal(t, RefusalInvalid, made.Refusal)
	require.Equal(t, CertaintyProven, made.Certainty)
	require.Empty(t, made.Uncertain)
	require.Equal(t, "spec.until", made.Fields[0].Path.String())
	require.False(t, made.Replaceable())
	denied := Verdict{Refusal: RefusalAdmissionDenied, Uncertain: "who knows"}
	require.Equal(t, denied, denied.OfCreate(manifest))
}
