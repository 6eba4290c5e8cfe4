package provider_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The README says how many lines the parts have. The planning is meant to be the library's.
func TestLinesOfTheReadme(t *testing.T) {
	readme, err := os.ReadFile("../README.md")
	require.NoError(t, err)
	counts := map[string]int{}
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	part := map[string]string{
		"plan.go": "planning", "explain.go": "planning", "fields.go": "planning", "read.go": "refresh", "apply.go": "refresh", "destroy.go": "refresh", "import.go": "import",
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		name := part[file]
		if name == "" {
			name = "schema"
		}
		counts[name] += linesOf(t, file)
	}
	for name, count := range counts {
		require.Regexp(t, fmt.Sprintf(`(?m)^\| %s.* \| %d \|$`, name, count), string(readme))
	}
}

// linesOf counts the lines that are neither empty nor comments.
func linesOf(t *testing.T, file string) int {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	skipped := regexp.MustCompile(`^\s*(//|$)`)
	count := 0
	for _, line := range strings.Split(strings.TrimSuffix(string(text), "\n"), "\n") {
		if !skipped.MatchString(line) {
			count++
		}
	}
	return count
}
