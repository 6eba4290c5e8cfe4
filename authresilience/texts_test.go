package authresilience_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ssaplan/primitives/authresilience"
)

// recordedRows returns what real servers of several versions said; see testdata. The end-to-end tests write it.
func recordedRows(t testing.TB) []row {
	t.Helper()
	files, err := filepath.Glob("testdata/v*.json")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	var rows []row
	for _, name := range files {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		var records map[string]struct {
			Class  authresilience.Class
			Status metav1.Status
		}
		require.NoError(t, json.Unmarshal(text, &records))
		for why, r := range records {
			rows = append(rows, row{filepath.Base(name) + ": " + why, statusError{r.Status}, r.Class})
		}
	}
	return rows
}

func TestClassifyRecorded(t *testing.T) {
	for _, r := range recordedRows(t) {
		assert.Equal(t, r.want, authresilience.Classify(r.err), "%s: %v", r.why, r.err)
	}
}

// TestEveryTextIsNeeded takes away one text after the other: without it, a row must be classified differently. A text
// that no row needs is dead, or not shown. A text that is said to be recorded must be needed for a record.
func TestEveryTextIsNeeded(t *testing.T) {
	wrong := func(r row) bool { return authresilience.Classify(r.err) != r.want }
	rows, records := allRows(), recordedRows(t)
	tables := slices.Concat(authresilience.ServerTexts, authresilience.ClientTexts)
	authresilience.WithoutText(tables, func(text authresilience.Text) {
		assert.True(t, slices.ContainsFunc(rows, wrong), "no row needs the text %q…%q", text.Start, text.Has)
	})
	authresilience.WithoutText(authresilience.ServerTexts, func(text authresilience.Text) {
		assert.Equal(t, !text.Unseen, slices.ContainsFunc(records, wrong), "recorded, or only read in the source: %q…%q", text.Start, text.Has)
	})
}

// TestEveryMeaningIsAClass holds the names of meanings against those of classes.
func TestEveryMeaningIsAClass(t *testing.T) {
	for _, table := range slices.Concat(authresilience.ServerTexts, authresilience.ClientTexts) {
		for _, text := range *table {
			assert.Contains(t, authresilience.Classes(), authresilience.Class(text.Means), text.Start)
		}
	}
}
