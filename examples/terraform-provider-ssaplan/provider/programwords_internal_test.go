package provider

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// All that a program wrote until it ended is counted, and nothing else of it is known. More than a pipe holds makes no
// program wait.
func TestWordsOfProgramsAreCounted(t *testing.T) {
	stderr := os.Stderr
	t.Cleanup(func() { os.Stderr = stderr })
	var w programWords
	require.NotContains(t, w.redacted(), "bytes", "no program was to run")
	w.count()
	require.Contains(t, w.redacted(), "says (0 bytes so far) isn't shown here")
	say := func(length string) {
		program := exec.Command("sh", "-c", "head -c "+length+" /dev/zero | tr '\\0' a >&2")
		program.Stderr = os.Stderr
		require.NoError(t, program.Run())
	}
	say("11")
	require.Contains(t, w.redacted(), "says (11 bytes so far) isn't shown here")
	say("300000")
	require.Contains(t, w.redacted(), "(300011 bytes so far)")
	var group sync.WaitGroup
	for range 20 {
		group.Go(func() {
			say("50")
			require.NotContains(t, w.redacted(), "(300011 bytes")
		})
	}
	group.Wait()
	require.Contains(t, w.redacted(), "(301011 bytes so far)")
	require.False(t, strings.Contains(w.redacted(), "aaa"))
}

// Any error may come from a program for credentials, whose words the library redacts: diagnostics show errors by
// detail, which says so.
func TestErrorsAreShownByDetail(t *testing.T) {
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	texts := 0
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		positions := token.NewFileSet()
		file, err := parser.ParseFile(positions, name, nil, 0)
		require.NoError(t, err)
		ast.Inspect(file, func(n ast.Node) bool {
			call, isCall := n.(*ast.CallExpr)
			if !isCall {
				return true
			}
			method, isMethod := call.Fun.(*ast.SelectorExpr)
			switch {
			case !isMethod:
			case method.Sel.Name == "Error" && len(call.Args) == 0:
				texts++
				require.Equal(t, "diagnostics.go", name, "%s: an error is shown without detail", positions.Position(n.Pos()))
			case strings.HasPrefix(method.Sel.Name, "Sprint"):
				for _, arg := range call.Args {
					id, isName := arg.(*ast.Ident)
					require.False(t, isName && id.Name == "err", "%s: an error is shown without detail", positions.Position(n.Pos()))
				}
			}
			return true
		})
	}
	require.Equal(t, 2, texts, "in detail")
}
