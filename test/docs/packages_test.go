package docs_test

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The tables of docs/packages.md have each package, with the others that it imports. README.md links to the main
// ones, and to each module that programs import.
func TestPackagesPageIsComplete(t *testing.T) {
	page, readme := read(t, "../../docs/packages.md"), read(t, "../../README.md")
	for _, folder := range []string{
		"projection", "identity", "immutability", "authresilience", "fieldowner", "ssaplan", "ssaplan/set",
		"ctrlssaplan", "readiness", "preview", "otelssaplan",
	} {
		assert.Contains(t, readme, "[`"+folder+"`]("+folder+")")
	}
	for _, folder := range append(packages, "ssaplan/manifest", "ssaplan/review") {
		row := regexp.MustCompile("(?m)^\\| `" + folder + "` \\| [^|]+ \\| (.*) \\|$").FindStringSubmatch(page)
		require.NotNil(t, row, folder)
		var told []string
		for _, match := range regexp.MustCompile("`([a-z/]+)`").FindAllStringSubmatch(row[1], -1) {
			told = append(told, match[1])
		}
		assert.Equal(t, importsOf(t, folder), told, folder)
	}
}

// importsOf returns the public packages of the library that a package of it imports.
func importsOf(t *testing.T, folder string) []string {
	t.Helper()
	var out []string
	for _, file := range sources(t, folder) {
		for _, spec := range file.Imports {
			path, err := strconv.Unquote(spec.Path.Value)
			require.NoError(t, err)
			name, ours := strings.CutPrefix(path, "github.com/ssaplan/primitives/")
			if ours && !strings.Contains("/"+name+"/", "/internal/") {
				out = append(out, name)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
