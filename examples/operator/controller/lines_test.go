package controller_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The README says how many lines an author writes for this package: those that have code, except its name and its
// imports.
func TestTheReadmeCountsTheLines(t *testing.T) {
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	lines := 0
	for _, file := range files {
		if !strings.HasSuffix(file, "_test.go") {
			lines += linesOfCode(t, file)
		}
	}
	readme, err := os.ReadFile("../README.md")
	require.NoError(t, err)
	require.Contains(t, strings.Join(strings.Fields(string(readme)), " "), "Its controller has "+strconv.Itoa(lines)+" lines of code, without imports,")
}

func linesOfCode(t *testing.T, name string) int {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, name, nil, parser.SkipObjectResolution)
	require.NoError(t, err)
	code := map[int]bool{}
	for _, declaration := range file.Decls {
		if d, ok := declaration.(*ast.GenDecl); ok && d.Tok == token.IMPORT {
			continue
		}
		ast.Inspect(declaration, func(n ast.Node) bool {
			if n != nil {
				code[files.Position(n.Pos()).Line], code[files.Position(n.End()-1).Line] = true, true
			}
			return n != nil
		})
	}
	return len(code)
}
