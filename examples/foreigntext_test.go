package examples_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/internal/printed"
)

// The programs print nothing of a server or an object as it came: it could act on a terminal, or look like a line of theirs.
func TestForeignTextIsPrintedSafely(t *testing.T) {
	found, err := printed.Find(".", "./...")
	require.NoError(t, err)
	for _, place := range found {
		t.Errorf("text of somebody else is printed as it came, make it a foreign.Text: %s", place)
	}
}
