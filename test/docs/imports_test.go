package docs_test

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var (
	importLine = regexp.MustCompile(`^(?:(\w+) )?"([^"]+)"$`)
	qualifier  = regexp.MustCompile(`\b([a-z]\w*)\.[A-Z]`)
)

// A page that has a list of imports has those that its code uses, and no others.
func TestPagesImportWhatTheyUse(t *testing.T) {
	pages, err := filepath.Glob("../../docs/*.md")
	require.NoError(t, err)
	checked := 0
	for _, page := range pages {
		found := blocks(read(t, page))
		at := slices.IndexFunc(found, func(b block) bool { return b.lines[0] == "import (" })
		if at < 0 {
			continue
		}
		used := map[string]bool{}
		for _, b := range found {
			if b.language != "go" {
				continue
			}
			for _, line := range b.lines {
				code, _, _ := strings.Cut(line, "//")
				for _, match := range qualifier.FindAllStringSubmatch(code, -1) {
					used[match[1]] = true
				}
			}
		}
		listed := importNames(found[at].lines)
		for name := range importsBeside(t, found[at].lines) {
			assert.Equal(t, used[name], listed[name], "%s: %s", page, name)
			checked++
		}
	}
	assert.Greater(t, checked, 30)
}

// importNames returns the names under which lines of code import packages.
func importNames(lines []string) map[string]bool {
	out := map[string]bool{}
	for _, line := range lines {
		if match := importLine.FindStringSubmatch(line); match != nil {
			name := match[1]
			if name == "" {
				name = match[2][strings.LastIndex(match[2], "/")+1:]
			}
			out[name] = true
		}
	}
	return out
}

// importsBeside returns the names of all imports of the file that has those of the page.
func importsBeside(t *testing.T, lines []string) map[string]bool {
	t.Helper()
	files, err := filepath.Glob("*_test.go")
	require.NoError(t, err)
	for _, path := range files {
		all := trimmed(read(t, path))
		if !slices.ContainsFunc(lines, func(line string) bool { return !slices.Contains(all, line) }) {
			return importNames(all)
		}
	}
	require.Fail(t, "no file has these imports", "%s", lines)
	return nil
}
