package primitives_test

import (
	"bytes"
	"go/scanner"
	"go/token"
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

// widest is how many columns a line has at most, with tabs of four.
const widest = 120

var (
	prose  = regexp.MustCompile(`^\s*// \S`)
	output = regexp.MustCompile(`^\s*// (Unordered output|Output):`)
)

// Comments and code of all modules fit beside each other on a screen. What an Example prints and code in comments are
// as wide as they are.
func TestLinesAreNotWide(t *testing.T) {
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
		if !strings.HasSuffix(path, "_test.go") { // where rows of tables are as wide as what they hold
			for _, n := range wideCode(source) {
				assert.Fail(t, "wide line: break it", "%s:%d", path, n)
			}
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

// wideCode returns the numbers of the lines of a source that have wide code. Lines that are wide mostly because of a
// string or a comment, such as a regular expression, are not among them.
func wideCode(source []byte) (lines []int) {
	texts := make([]int, bytes.Count(source, []byte("\n"))+2) // how many columns they take, by number of line
	files := token.NewFileSet()
	file := files.AddFile("", files.Base(), len(source))
	var s scanner.Scanner
	s.Init(file, source, nil, scanner.ScanComments)
	for pos, kind, text := s.Scan(); kind != token.EOF; pos, kind, text = s.Scan() {
		if kind != token.STRING && kind != token.COMMENT {
			continue
		}
		for i, part := range strings.Split(text, "\n") {
			texts[file.Line(pos)+i] += utf8.RuneCountInString(part)
		}
	}
	for i, line := range strings.Split(string(source), "\n") {
		wide := utf8.RuneCountInString(strings.ReplaceAll(line, "\t", "    "))
		indented := 4 * (len(line) - len(strings.TrimLeft(line, "\t")))
		if wide > widest && wide-indented-texts[i+1] > 40 {
			lines = append(lines, i+1)
		}
	}
	return lines
}

func TestWideCodeIsFound(t *testing.T) {
	long := strings.Repeat("x", 100)
	for line, isWide := range map[string]bool{
		"var a = f(" + long + ")":                              false,
		"var a = f(" + long + ", 12345678901)":                 true,
		"\tvar a = `" + long + "` + `" + long + "`":            false,
		"var a = f(`" + long + "`, " + long[:40] + ", y, zzz)": true,
	} {
		var want []int
		if isWide {
			want = []int{3}
		}
		require.Equal(t, want, wideCode([]byte("package a\n\n"+line+"\n")), line)
	}
}

func TestWideCommentsAreFound(t *testing.T) {
	wide := "// " + strings.Repeat("é", widest-3)
	assert.Empty(t, wideComments(wide+"\n\t//\t"+wide+"\n// Output:\n"+wide+"é\n"))
	assert.Equal(t, []int{1, 3}, wideComments("\t"+wide+"\n\n"+wide+"é"))
}
