package wire

import (
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ssaplan/primitives/ssaplan/internal/standin"
	"github.com/ssaplan/primitives/ssaplan/internal/wiretest"
)

func TestTryCreate(t *testing.T) {
	made := wiretest.Versioned(`,"uid":"1"`)
	there := wiretest.Versioned(wiretest.Identified + record("m", "Apply", "2"))
	for _, row := range []struct {
		why     string
		answers []string
		err     string
	}{
		{"nothing has the name", []string{missing, unknownDryRun, made}, ""},
		{"who may not read can try all the same", []string{forbidden, unknownDryRun, made}, ""},
		{"there is one that looks like what is to be tried", []string{there}, standin.ErrTaken.Error()},
		{"the dry run wrote it", []string{missing, unknownDryRun, there, there, outdated}, "the dry run wrote"},
		{"somebody else did, just as it was to be tried", []string{missing, unknownDryRun, there, there, unknownDryRun}, standin.ErrTaken.Error()},
		{"another one appeared", []string{missing, unknownDryRun, there, wiretest.Versioned(wiretest.Identified)}, standin.ErrTaken.Error()},
		{"the read fails", []string{throttled}, "slow down"},
		{"the create is refused", []string{missing, forbidden}, "configmaps"},
	} {
		obj, err := targetOf(t, &answers{bodies: row.answers, asked: true}).TryCreate(t.Context(), wiretest.Decoded(t, made).Object, metav1.PatchOptions{FieldManager: "m"}, false)
		if row.err != "" {
			require.ErrorContains(t, err, row.err, row.why)
			require.Nil(t, obj, row.why)
			continue
		}
		require.NoError(t, err, row.why)
		require.Equal(t, wiretest.Decoded(t, made), obj, row.why)
	}
}
