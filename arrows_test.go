package primitives_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// mostBack is how many uses between two files of a package may run against the order of the files.
const mostBack = 4

// A reader can take the files of a package one after the other: nearly every file uses only files below it.
func TestFilesAreLayered(t *testing.T) {
	checked := 0
	for _, module := range strings.Fields(find(t, read(t, "Makefile"), `(?m)^LIBRARIES := (.*)$`)) {
		for _, dir := range packageFolders(t, module) {
			uses := usesBetweenFiles(t, dir)
			back := against(uses, layers(uses))
			assert.LessOrEqual(t, len(back), mostBack, "%s: the files of the package use each other in both directions:\n%s\n"+
				"Move what is used to the file where it belongs.", dir, strings.Join(back, "\n"))
			checked++
		}
	}
	require.Greater(t, checked, 50)
}

func TestUsesAgainstTheOrderAreFound(t *testing.T) {
	dir := t.TempDir()
	for name, source := range map[string]string{
		"plan.go":  "package p\nimport \"other/types\"\ntype Plan struct{ f Field }\nfunc (p Plan) Show() string { return types.show(p.f) }\n",
		"field.go": "package p\ntype Field string\nfunc show(f Field) string { return string(f) }\n",
		"diff.go":  "package p\nfunc diff(a, b Plan) bool { show := 1; _ = show; return a.Show() == b.Show() }\n",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(source), 0o600))
	}
	uses := usesBetweenFiles(t, dir)
	assert.Equal(t, []string{"diff.go", "plan.go", "field.go"}, layers(uses))
	assert.Empty(t, against(uses, layers(uses)), "a name of an import or of a function's own isn't a use of another file")

	require.NoError(t, os.WriteFile(filepath.Join(dir, "field.go"), []byte("package p\ntype Field string\nfunc of(p Plan) Field { return p.f }\n"), 0o600))
	uses = usesBetweenFiles(t, dir)
	assert.Equal(t, []string{"field.go uses plan.go: Plan"}, against(uses, []string{"diff.go", "plan.go", "field.go"}))
	assert.Len(t, against(uses, layers(uses)), 1)
}

// packageFolders returns the folders of a module that have Go files besides tests.
func packageFolders(t *testing.T, module string) (dirs []string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(module, func(path string, entry os.DirEntry, err error) error {
		if err != nil || !entry.IsDir() {
			return err
		}
		if path != module && (strings.HasPrefix(entry.Name(), ".") || entry.Name() == "testdata" || isFile(filepath.Join(path, "go.mod"))) {
			return filepath.SkipDir
		}
		if len(goFiles(t, path)) > 0 {
			dirs = append(dirs, path)
		}
		return nil
	}))
	return dirs
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

func goFiles(t *testing.T, dir string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	require.NoError(t, err)
	return slices.DeleteFunc(names, func(name string) bool { return strings.HasSuffix(name, "_test.go") })
}

// usesBetweenFiles returns which names each file of a package uses of which other file. The name of a method counts if
// one file alone declares it.
func usesBetweenFiles(t *testing.T, dir string) map[string]map[string][]string {
	t.Helper()
	files := map[string]*ast.File{}
	for _, path := range goFiles(t, dir) {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		require.NoError(t, err)
		files[filepath.Base(path)] = file
	}
	declared, methods := map[string]string{}, map[string][]string{}
	for name, file := range files {
		for object := range file.Scope.Objects {
			declared[object] = name
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv != nil && !slices.Contains(methods[f.Name.Name], name) {
				methods[f.Name.Name] = append(methods[f.Name.Name], name)
			}
		}
	}
	uses := map[string]map[string][]string{}
	for name, file := range files {
		uses[name] = map[string][]string{}
		use := func(of, what string) {
			if of != "" && of != name && !slices.Contains(uses[name][of], what) {
				uses[name][of] = append(uses[name][of], what)
			}
		}
		elsewhere := map[*ast.Ident]bool{} // names that neither a function nor the file declares
		for _, id := range file.Unresolved {
			elsewhere[id] = true
			use(declared[id.Name], id.Name)
		}
		imports := map[string]bool{}
		for _, spec := range file.Imports {
			imports[importName(spec)] = true
		}
		ast.Inspect(file, func(n ast.Node) bool {
			selector, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if x, ok := selector.X.(*ast.Ident); ok && elsewhere[x] && imports[x.Name] {
				return false
			}
			if of := methods[selector.Sel.Name]; len(of) == 1 {
				use(of[0], selector.Sel.Name)
			}
			return true
		})
	}
	return uses
}

func importName(spec *ast.ImportSpec) string {
	if spec.Name != nil {
		return spec.Name.Name
	}
	path := strings.Trim(spec.Path.Value, `"`)
	return path[strings.LastIndex(path, "/")+1:]
}

// layers orders the files of a package from top to bottom. It takes away files that use no other file, and puts them at
// the bottom, and files that no other file uses, and puts them on top. If every file is left in a circle, the one that
// uses most and is used least comes next on top.
func layers(uses map[string]map[string][]string) []string {
	left := slices.Sorted(maps.Keys(uses))
	var top, bottom []string
	for len(left) > 0 {
		best, most, isBottom := "", -len(uses), false
		for _, file := range left {
			out, in := 0, 0
			for _, other := range left {
				if len(uses[file][other]) > 0 {
					out++
				}
				if len(uses[other][file]) > 0 {
					in++
				}
			}
			if out == 0 || in == 0 {
				best, isBottom = file, out == 0
				break
			}
			if out-in > most {
				best, most = file, out-in
			}
		}
		if isBottom {
			bottom = append(bottom, best)
		} else {
			top = append(top, best)
		}
		left = slices.DeleteFunc(left, func(file string) bool { return file == best })
	}
	slices.Reverse(bottom)
	return append(top, bottom...)
}

// against returns the uses that run from a file to one above it.
func against(uses map[string]map[string][]string, order []string) (back []string) {
	for i, file := range order {
		for _, above := range order[:i] {
			if names := uses[file][above]; len(names) > 0 {
				back = append(back, fmt.Sprintf("%s uses %s: %s", file, above, strings.Join(names, ", ")))
			}
		}
	}
	return back
}
