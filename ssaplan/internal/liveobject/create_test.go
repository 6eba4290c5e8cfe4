package liveobject

import (
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ssaplan/primitives/ssaplan/internal/trialcreate"
	"github.com/ssaplan/primitives/ssaplan/internal/wiretest"
)

func TestTryCreate(t *testing.T) {
	made := wiretest.Versioned(`,"uid":"1"`)
	there := wiretest.Versioned(wiretest.Identified + wiretest.Record("m", "Apply", "2"))
	for _, row := range []struct {
		why     string
		answers []string
		err     string
	}{
		{"nothing has the name", []string{wiretest.Missing, wiretest.UnknownDryRun, made}, ""},
		{"who may not read can try all the same", []string{wiretest.Forbidden, wiretest.UnknownDryRun, made}, ""},
		{"there is one that looks like what is to be tried", []string{there}, trialcreate.ErrTaken.Error()},
		{"the dry run wrote it", []string{wiretest.Missing, wiretest.UnknownDryRun, there, there, wiretest.Outdated}, "the dry run wrote"},
		{"another client did what was to be tried", []string{wiretest.Missing, wiretest.UnknownDryRun, there, there, wiretest.UnknownDryRun}, trialcreate.ErrTaken.Error()},
		{"another one appeared", []string{wiretest.Missing, wiretest.UnknownDryRun, there, wiretest.Versioned(wiretest.Identified)}, trialcreate.ErrTaken.Error()},
		{"the read fails", []string{wiretest.Throttled}, "slow down"},
		{"the create is refused", []string{wiretest.Missing, wiretest.Forbidden}, "configmaps"},
	} {
		obj, err := targetOf(t, &wiretest.Answers{Bodies: row.answers, Asked: true}).TryCreate(t.Context(), wiretest.Decoded(t, made).Object, metav1.PatchOptions{FieldManager: "m"}, false)
		if row.err != "" {
			require.ErrorContains(t, err, row.err, row.why)
			require.Nil(t, obj, row.why)
			continue
		}
		require.NoError(t, err, row.why)
		require.Equal(t, wiretest.Decoded(t, made), obj, row.why)
	}
}
