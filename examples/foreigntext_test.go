package examples_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/internal/printed"
)

// The programs, and the modules that they are made with, print nothing of a server or an object as it came: it could
// act on a terminal, or look like a line of theirs.
func TestForeignTextIsPrintedSafely(t *testing.T) {
	modules, err := filepath.Glob("../*/go.mod")
	require.NoError(t, err)
	require.Greater(t, len(modules), 4)
	for _, module := range modules {
		if module == "../test/go.mod" {
			continue // which has no users
		}
		found, err := printed.Find(filepath.Dir(module), "./...")
		require.NoError(t, err)
		for _, place := range found {
			t.Errorf("text of somebody else is printed as it came, make it a foreign.Text: %s", place)
		}
	}
}
