package primitives_test

import (
	"go/doc"
	"go/doc/comment"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The code of a package comment is that of an Example, line by line, and so it is compiled and run. Each public
// package, and each module that programs import, has such code. Its first paragraph says which question it answers, and
// what it isn't for.
func TestPackageCommentsShowCodeOfExamples(t *testing.T) {
	folders := []string{"readiness", "preview", "ctrlssaplan", "otelssaplan"}
	for _, path := range public(t) {
		if path != module {
			folders = append(folders, strings.TrimPrefix(path, module+"/"))
		}
	}
	for _, folder := range folders {
		text, examples := packageComment(t, folder)
		first, _, _ := strings.Cut(text, "\n\n")
		first = strings.ReplaceAll(first, "\n", " ")
		assert.Regexp(t, `^Package \w+ (answers|is)\b`, first, folder)
		assert.Regexp(t, `\banswers( without a server)?: [^?]+\?`, first, "%s: which question the package answers", folder)
		assert.Regexp(t, `\bisn't (for|about) `, first, "%s: what the package isn't for", folder)
		blocks := codeOf(text)
		assert.NotEmpty(t, blocks, "%s: the comment has no code", folder)
		for _, block := range blocks {
			assert.True(t, slices.ContainsFunc(examples, func(example string) bool { return strings.Contains(example, block) }),
				"%s: no Example with output has this code:\n%s", folder, block)
		}
	}
}

// packageComment returns the comment of a package and the code of its Examples with output, with unindented lines.
func packageComment(t *testing.T, folder string) (text string, examples []string) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(folder, "*.go"))
	require.NoError(t, err)
	files := token.NewFileSet()
	for _, path := range paths {
		source, err := os.ReadFile(path)
		require.NoError(t, err)
		syntax, err := parser.ParseFile(files, path, source, parser.ParseComments)
		require.NoError(t, err)
		if !strings.HasSuffix(path, "_test.go") {
			text += syntax.Doc.Text()
			continue
		}
		for _, example := range doc.Examples(syntax) {
			if example.Output != "" { // its code is a block, or the file if that has more in it
				code := source[files.Position(example.Code.Pos()).Offset:files.Position(example.Code.End()).Offset]
				examples = append(examples, unindented(string(code)))
			}
		}
	}
	return text, examples
}

// codeOf returns the code blocks of a comment, with unindented lines.
func codeOf(text string) (out []string) {
	var parser comment.Parser
	for _, block := range parser.Parse(text).Content {
		if code, ok := block.(*comment.Code); ok {
			out = append(out, strings.TrimSpace(unindented(code.Text)))
		}
	}
	return out
}

// unindented returns a text whose lines have no blanks at their ends, and single ones before a comment.
func unindented(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		code, note, found := strings.Cut(line, "//")
		line = strings.TrimSpace(code)
		if found {
			line = strings.TrimSpace(line + " // " + strings.TrimSpace(note))
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

// A package with many files lists them below its package comment, each once.
func TestListsOfFilesAreComplete(t *testing.T) {
	for _, folder := range []string{"ssaplan", "ssaplan/explain", "ssaplan/set"} {
		text, err := os.ReadFile(filepath.Join(folder, "doc.go"))
		require.NoError(t, err)
		_, list, found := strings.Cut(string(text), "\n// The other files of this package")
		require.True(t, found, folder)
		files, err := filepath.Glob(filepath.Join(folder, "*.go"))
		require.NoError(t, err)
		listed := 0
		for _, file := range files {
			name := filepath.Base(file)
			if strings.HasSuffix(name, "_test.go") || name == "doc.go" {
				continue
			}
			assert.Len(t, regexp.MustCompile(`\b`+regexp.QuoteMeta(name)).FindAllString(list, -1), 1, "%s in the list of %s", name, folder)
			listed++
		}
		assert.Len(t, regexp.MustCompile(`\w\.go\b`).FindAllString(list, -1), listed, "files in the list of %s", folder)
	}
}
