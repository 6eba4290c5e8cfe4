package wire

import (
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ssaplan/primitives/ssaplan/internal/standin"
)

func TestTryCreate(t *testing.T) {
	made := versioned(`,"uid":"1"`)
	there := versioned(identified + record("m", "Apply", "2"))
	for _, row := range []struct {
		why     string
		answers []string
		err     string
	}{
		{"nothing has the name", []string{missing, made}, ""},
		{"who may not read can try all the same", []string{forbidden, made}, ""},
		{"there is one that looks like what is to be tried", []string{there}, standin.ErrTaken.Error()},
		{"it appeared in the dry run, as it was to be tried", []string{missing, there, there}, "the dry run wrote"},
		{"another one appeared", []string{missing, there, versioned(identified)}, standin.ErrTaken.Error()},
		{"the read fails", []string{throttled}, "slow down"},
		{"the create is refused", []string{missing, forbidden}, "configmaps"},
	} {
		obj, err := target(t, row.answers...).TryCreate(t.Context(), decoded(t, made).Object, metav1.PatchOptions{FieldManager: "m"}, false)
		if row.err != "" {
			require.ErrorContains(t, err, row.err, row.why)
			require.Nil(t, obj, row.why)
			continue
		}
		require.NoError(t, err, row.why)
		require.Equal(t, decoded(t, made), obj, row.why)
	}
}
