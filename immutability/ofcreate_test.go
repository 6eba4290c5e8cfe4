package immutability

import (
	"testing"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// TestOfCreate checks the verdict on what can't be created: it is invalid, whatever seemed to be immutable, unless a
// policy denies it.
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

// What doesn't fit the schema is no refusal of a change, and the reason why there can't be a new object.
func TestOfCreateOfMisfit(t *testing.T) {
	manifest := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"modes": []any{"a", "a"}}}}
	verdict := Classify(&apierrors.StatusError{ErrStatus: metav1.Status{
		Code: 500, Message: `failed to create typed patch object (/a; ex.io/v1, Kind=A): .spec.modes: duplicate entries for key [="a"]`,
	}})
	require.Equal(t, RefusalNone, verdict.Refusal)
	require.Empty(t, verdict.Fields)
	require.Equal(t, "invalid: spec.modes: duplicate entries for key", verdict.OfCreate(manifest).String())
}
