package primitives_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// riddles finds words that a message, a help text or a description must not have: they have a plain counterpart. For
// example, a manager "owns" a field, an object "is deleted" or "will be replaced", and a kind has a CRD.
var riddles = regexp.MustCompile(`(?i)\b(` + strings.Join([]string{
	"nobody", "somebody", "whoever", "anew", "as things are",
	"foretells?", "foretold", "heeds?", "tells?", "told", "stands?",
	"goes", "goes with", "takes along", "(is|are) to be", "stays? behind", "of which", "else than",
	"a text", "the definitions?", "wait on",
}, "|") + `)\b`)

// Messages of all modules are in plain English.
func TestMessagesAreInPlainEnglish(t *testing.T) {
	checked := 0
	require.NoError(t, filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (entry.Name() == "testdata" || path != "." && strings.HasPrefix(entry.Name(), ".")):
			return fs.SkipDir
		case filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		for _, found := range riddlesIn(t, path, nil) {
			assert.Fail(t, "a message in words that aren't plain", found)
		}
		checked++
		return nil
	}))
	require.Greater(t, checked, 400)
}

// riddlesIn returns the place and the word of each literal of a source that is no plain English. If src is nil, the
// source is read from the file.
func riddlesIn(t *testing.T, path string, src any) (found []string) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, src, parser.SkipObjectResolution)
	require.NoError(t, err)
	ast.Inspect(file, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.Field:
			node.Tag = nil
		case *ast.BasicLit:
			if node.Kind != token.STRING {
				return true
			}
			text, err := strconv.Unquote(node.Value)
			require.NoError(t, err)
			if word := riddles.FindString(text); word != "" {
				position := files.Position(node.Pos())
				found = append(found, fmt.Sprintf("%s:%d: %q in %q", path, position.Line, word, text))
			}
		}
		return true
	})
	return found
}

func TestRiddlesAreFound(t *testing.T) {
	const source = "package p\n\nimport _ \"somebody else\"\n\ntype t struct {\n\tf int `json:\"nobody is\"`\n}\n\n" +
		"// nobody reads comments here\nvar a = \"retold\"\nvar b = `one,\nNobody else`\nvar c = \"untold foregoes\"\n"
	assert.Equal(t, []string{`p.go:11: "Nobody" in "one,\nNobody else"`}, riddlesIn(t, "p.go", source))
}
