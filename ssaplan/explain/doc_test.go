package explain_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestOrderOfFilesIsComplete checks that the order of the files in doc.go names each of them once.
func TestOrderOfFilesIsComplete(t *testing.T) {
	text, err := os.ReadFile("doc.go")
	require.NoError(t, err)
	_, order, found := strings.Cut(string(text), "\n// The other files of this package")
	require.True(t, found)
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	listed := 0
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") || file == "doc.go" {
			continue
		}
		require.Equal(t, 1, strings.Count(order, " "+file), "%s in the order of doc.go", file)
		listed++
	}
	require.Equal(t, listed, strings.Count(order, ".go"), "files in the order of doc.go")
}
