package primitives_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// widest is how many columns a comment has at most, with tabs of four.
const widest = 120

var (
	prose  = regexp.MustCompile(`^\s*// \S`)
	output = regexp.MustCompile(`^\s*// (Unordered output|Output):`)
)

// Comments of all modules fit beside each other on a screen. What an Example prints and indented code are as wide as
// they are.
func TestCommentsAreNotWide(t *testing.T) {
	checked := 0
	require.NoError(t, filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path != "." && strings.HasPrefix(entry.Name(), "."):
			return fs.SkipDir
		case filepath.Ext(path) != ".go":
			return nil
		}
		source, err := os.ReadFile(path)
		require.NoError(t, err)
		for _, n := range wideComments(string(source)) {
			assert.Fail(t, "wide comment", "%s:%d", path, n)
		}
		checked++
		return nil
	}))
	require.Greater(t, checked, 500)
}

// wideComments returns the numbers of the lines of a source that have a wide comment and nothing else.
func wideComments(source string) (lines []int) {
	isOutput := false
	for i, line := range strings.Split(source, "\n") {
		isOutput = output.MatchString(line) || isOutput && strings.HasPrefix(strings.TrimSpace(line), "//")
		if !isOutput && prose.MatchString(line) && utf8.RuneCountInString(strings.ReplaceAll(line, "\t", "    ")) > widest {
			lines = append(lines, i+1)
		}
	}
	return lines
}

func TestWideCommentsAreFound(t *testing.T) {
	wide := "// " + strings.Repeat("é", widest-3)
	assert.Empty(t, wideComments(wide+"\n\t//\t"+wide+"\n// Output:\n"+wide+"é\n"))
	assert.Equal(t, []int{1, 3}, wideComments("\t"+wide+"\n\n"+wide+"é"))
}
