// Package printed finds where a program prints text of somebody else as it came, past the type foreign.Text.
//
// It looks at each package by itself: at fields and methods that hold what a server or an object says (sources.go), at
// the variables, parameters and results that have these, and at calls that print, fields that are shown and methods
// String and Error. Text is safe in calls of package foreign. The verb %q alone
// leaves characters that can't be seen and commands of CI systems as they are.
package printed

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// Find returns a line for each place in the packages that prints text of somebody else, tests left out. The packages
// are patterns of the go command, which runs in the folder.
func Find(folder string, packages ...string) (found []string, err error) {
	const format = "{{.ImportPath}}|{{.Export}}|{{if .DepOnly}}{{else}}{{.Dir}}|{{join .GoFiles \"|\"}}{{end}}"
	listed, err := list(folder, format, packages)
	if err != nil {
		return nil, err
	}
	exports, wanted := map[string]string{}, [][]string{}
	for line := range strings.Lines(listed) {
		parts := strings.Split(strings.TrimSpace(line), "|")
		exports[parts[0]] = parts[1]
		if len(parts) > 3 && parts[3] != "" {
			wanted = append(wanted, parts)
		}
	}
	fset := token.NewFileSet()
	known := importer.ForCompiler(fset, "gc",
		func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	for _, parts := range wanted {
		if parts[0] == ours+"projection/foreign" {
			continue // it prints foreign text, but makes it safe
		}
		lines, err := inPackage(fset, known, parts[0], parts[2], parts[3:])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", parts[0], err)
		}
		found = append(found, lines...)
	}
	return found, nil
}

func list(folder, format string, packages []string) (string, error) {
	var complaints bytes.Buffer
	cmd := exec.Command("go", slices.Concat([]string{"list", "-export", "-deps", "-f", format}, packages)...)
	cmd.Dir, cmd.Stderr, cmd.Env = folder, &complaints, append(os.Environ(), "GOWORK=off")
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%w: %s", err, &complaints)
	}
	return string(out), nil
}

// inPackage returns the places in one package.
func inPackage(fset *token.FileSet, known types.Importer, path, dir string,
	names []string) (found []string, err error) {
	var files []*ast.File
	for _, name := range names {
		file, err := parser.ParseFile(fset, filepath.Join(dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	info := &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{},
		Defs:       map[*ast.Ident]types.Object{},
		Selections: map[*ast.SelectorExpr]*types.Selection{},
	}
	if _, err := (&types.Config{Importer: known}).Check(path, fset, files, info); err != nil {
		return nil, err
	}
	functions, f := functionsOf(files), flow{info: info, foreign: map[types.Object]bool{}}
	f.follow(functions)
	for _, function := range functions {
		for _, at := range f.printed(function) {
			position := fset.Position(at.Pos())
			found = append(found, fmt.Sprintf("%s/%s:%d: %s", path, filepath.Base(position.Filename), position.Line,
				types.ExprString(at)))
		}
	}
	return found, nil
}

func functionsOf(files []*ast.File) (functions []*ast.FuncDecl) {
	for _, file := range files {
		for _, d := range file.Decls {
			if function, ok := d.(*ast.FuncDecl); ok && function.Body != nil {
				functions = append(functions, function)
			}
		}
	}
	return functions
}
