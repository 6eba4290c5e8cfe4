// Measure counts how packages are built, tests left out: files, lines, exported names, the lengths of functions (the
// 90th percentile and the longest), and the pairs of files of which each uses what the other declares, by name with -v.
//
//	measure [-v] FOLDER…
package main

import (
	"bytes"
	"cmp"
	"flag"
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

func main() {
	verbose := flag.Bool("v", false, "name the pairs of files")
	flag.Parse()
	fmt.Printf("%-34s %5s %6s %8s %10s %4s %4s %6s\n", "package", "files", "lines", "exported", "functions", "p90",
		"max", "pairs")
	for _, folder := range flag.Args() {
		m, err := measure(folder)
		if err != nil {
			fmt.Fprintln(os.Stderr, "measure:", err)
			os.Exit(1)
		}
		fmt.Printf("%-34s %5d %6d %8d %10d %4d %4d %6d\n", folder, m.files, m.lines, m.exported, len(m.functions),
			m.longest(90), m.longest(100), len(m.pairs))
		if *verbose && len(m.pairs) > 0 {
			fmt.Println("  " + strings.Join(m.pairs, "\n  "))
		}
	}
}

type measures struct {
	files, lines, exported int
	functions              []int    // their lengths in lines, sorted
	pairs                  []string // of files of which each uses what the other declares
}

// longest returns the percentile of the lengths of functions, 0 if there are none.
func (m *measures) longest(percent int) int {
	if len(m.functions) == 0 {
		return 0
	}
	return m.functions[min(len(m.functions)*percent/100, len(m.functions)-1)]
}

func measure(folder string) (*measures, error) {
	fset := token.NewFileSet()
	files, err := parse(fset, folder)
	if err != nil {
		return nil, err
	}
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	config := types.Config{Importer: importer.ForCompiler(fset, "gc", exports(folder))}
	pkg, err := config.Check(folder, fset, files, info)
	if err != nil {
		return nil, err
	}
	m := &measures{files: len(files), exported: exported(pkg)}
	for _, file := range files {
		m.lines += fset.File(file.FileStart).LineCount()
		for _, d := range file.Decls {
			if f, isFunction := d.(*ast.FuncDecl); isFunction {
				m.functions = append(m.functions, fset.Position(f.End()).Line-fset.Position(f.Pos()).Line+1)
			}
		}
	}
	slices.Sort(m.functions)
	m.pairs = pairs(fset, pkg, info)
	return m, nil
}

// parse reads the files of a package that it has on this machine, without tests.
func parse(fset *token.FileSet, folder string) ([]*ast.File, error) {
	names, err := list(folder, "{{range .GoFiles}}{{$.Dir}}/{{.}}\n{{end}}")
	if err != nil {
		return nil, err
	}
	var files []*ast.File
	for _, name := range strings.Fields(names) {
		file, err := parser.ParseFile(fset, name, nil, 0)
		if err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	return files, nil
}

// exports finds what the compiler knows of the packages that the one in folder imports.
func exports(folder string) importer.Lookup {
	var found map[string]string
	return func(path string) (io.ReadCloser, error) {
		if found == nil {
			text, err := list(folder, "{{.ImportPath}} {{.Export}}", "-export", "-deps")
			if err != nil {
				return nil, err
			}
			found = map[string]string{}
			for line := range strings.Lines(text) {
				of, file, _ := strings.Cut(strings.TrimSpace(line), " ")
				found[of] = file
			}
		}
		return os.Open(found[path])
	}
}

func list(folder, format string, options ...string) (string, error) {
	var complaints bytes.Buffer
	cmd := exec.Command("go", slices.Concat([]string{"list", "-f", format}, options, []string{"./" + folder})...)
	cmd.Stderr = &complaints
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%w: %s", err, &complaints)
	}
	return string(out), nil
}

// exported counts the names of a package that others can use, methods included.
func exported(pkg *types.Package) int {
	n := 0
	for _, name := range pkg.Scope().Names() {
		object := pkg.Scope().Lookup(name)
		if !object.Exported() {
			continue
		}
		n++
		if named, isNamed := object.Type().(*types.Named); isNamed && types.Object(named.Obj()) == object {
			for method := range named.Methods() {
				if method.Exported() {
					n++
				}
			}
		}
	}
	return n
}

// pairs returns the pairs of files of which each uses what the other declares.
func pairs(fset *token.FileSet, pkg *types.Package, info *types.Info) (found []string) {
	uses := map[[2]string]bool{}
	for ident, object := range info.Uses {
		if object.Pkg() == pkg {
			uses[[2]string{base(fset, ident.Pos()), base(fset, object.Pos())}] = true
		}
	}
	for pair := range uses {
		if cmp.Less(pair[0], pair[1]) && uses[[2]string{pair[1], pair[0]}] {
			found = append(found, pair[0]+" "+pair[1])
		}
	}
	slices.Sort(found)
	return found
}

func base(fset *token.FileSet, pos token.Pos) string {
	return filepath.Base(fset.Position(pos).Filename)
}
