package main

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
	"strings"
)

// A source is one file of a package.
type source struct {
	name string // without folder
	text []byte
	file *ast.File
}

// loaded is a package with its mutants.
type loaded struct {
	folder   string
	path     string
	fset     *token.FileSet
	sources  []*source
	info     types.Info
	importer types.Importer
	mutants  []*mutant
	unviable int // mutants that don't compile
}

// load reads the package in a folder, without its tests.
func load(folder string) (*loaded, error) {
	out, err := output("go", "list", "-f", "{{.ImportPath}} {{range .GoFiles}}{{.}} {{end}}", "./"+folder)
	if err != nil {
		return nil, err
	}
	words := strings.Fields(out)
	p := &loaded{folder: folder, path: words[0], fset: token.NewFileSet()}
	for _, name := range words[1:] {
		text, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			return nil, err
		}
		file, err := parser.ParseFile(p.fset, name, text, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		p.sources = append(p.sources, &source{name, text, file})
	}
	if p.importer, err = newImporter(p.fset, folder); err != nil {
		return nil, err
	}
	p.info = types.Info{Types: map[ast.Expr]types.TypeAndValue{}}
	return p, p.check(&p.info)
}

// newImporter returns an importer of what the package in a folder imports, which go list compiles.
func newImporter(fset *token.FileSet, folder string) (types.Importer, error) {
	out, err := output("go", "list", "-export", "-deps", "-f", "{{.ImportPath}} {{.Export}}", "./"+folder)
	if err != nil {
		return nil, err
	}
	exports := map[string]string{}
	for line := range strings.Lines(out) {
		name, file, _ := strings.Cut(strings.TrimSpace(line), " ")
		exports[name] = file
	}
	open := func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) }
	return importer.ForCompiler(fset, "gc", open), nil
}

// check reports why the package doesn't compile as its files are now.
func (p *loaded) check(info *types.Info) error {
	var files []*ast.File
	for _, s := range p.sources {
		files = append(files, s.file)
	}
	_, err := (&types.Config{Importer: p.importer}).Check(p.path, p.fset, files, info)
	return err
}

// textOf returns the text of a node.
func (p *loaded) textOf(s *source, n ast.Node) string {
	return string(s.text[p.fset.Position(n.Pos()).Offset:p.fset.Position(n.End()).Offset])
}

// output returns what a program prints.
func output(name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w\n%s", cmd, err, &stderr)
	}
	return string(out), nil
}
