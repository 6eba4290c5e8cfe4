package render

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/examples/kubectl-ssaplan/attention"
)

// legend returns the symbols in the table of README.md: those of objects and those of fields.
func legend(t *testing.T) (objects, fields []string) {
	page, err := os.ReadFile("../README.md")
	require.NoError(t, err)
	_, table, found := strings.Cut(string(page), "| symbol | the object … | symbol | the field … |\n|---|---|---|---|\n")
	require.True(t, found)
	for line := range strings.Lines(table) {
		cells := strings.Split(line, "|")
		if len(cells) != 6 {
			break
		}
		for i, column := range []*[]string{&objects, &fields} {
			if symbol := strings.Trim(cells[1+2*i], " `"); symbol != "" {
				*column = append(*column, symbol)
				require.NotEmpty(t, strings.TrimSpace(cells[2+2*i]), symbol)
			}
		}
	}
	return objects, fields
}

// TestLegend compares the table of symbols in README.md with the maps that choose them.
func TestLegend(t *testing.T) {
	shown := map[string]bool{}
	for _, look := range symbols {
		shown[look.symbol] = true
	}
	objects, fields := legend(t)
	require.Equal(t, slices.Sorted(maps.Keys(shown)), slices.Sorted(slices.Values(objects)))

	shown = map[string]bool{}
	for _, look := range operations {
		shown[look.symbol] = true
	}
	for _, look := range findingLooks {
		shown[look.symbol] = true
	}
	for kind, look := range attentionLooks {
		if kind == attention.Replaced { // the only kind with the symbol of an object
			require.Contains(t, objects, look.symbol)
			continue
		}
		shown[look.symbol] = true
	}
	require.Equal(t, slices.Sorted(maps.Keys(shown)), slices.Sorted(slices.Values(fields)))
}

// TestSymbolsAreConstants allows the special symbols in no string of the package except the constants, or the legend
// would say nothing about them.
func TestSymbolsAreConstants(t *testing.T) {
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	found := 0
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		ast.Inspect(file, func(n ast.Node) bool {
			if d, ok := n.(*ast.GenDecl); ok && d.Tok == token.CONST {
				found++
				return false
			}
			if s, ok := n.(*ast.BasicLit); ok && s.Kind == token.STRING {
				require.False(t, strings.ContainsAny(s.Value, "▲×±○·"), "%s: %s", name, s.Value)
			}
			return true
		})
	}
	require.NotZero(t, found)
}
