package primitives_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var docLink = regexp.MustCompile(`\[\*?((?:[a-z]\w*\.)?[A-Z]\w*(?:\.[A-Z]\w*)?)\]`)

// Each link of a comment to a type, a function, a method or a field leads to one.
func TestDocLinksLeadSomewhere(t *testing.T) {
	folders := []string{"readiness", "preview", "ctrlssaplan", "otelssaplan"}
	for _, importPath := range public(t) {
		folders = append(folders, path.Clean(strings.TrimPrefix(strings.TrimPrefix(importPath, module), "/")))
	}
	files, parsed, names := token.NewFileSet(), map[string][]*ast.File{}, map[string]map[string]bool{}
	for _, folder := range folders {
		paths, err := filepath.Glob(filepath.Join(folder, "*.go"))
		require.NoError(t, err)
		names[path.Base(folder)] = map[string]bool{}
		for _, file := range paths {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			syntax, err := parser.ParseFile(files, file, nil, parser.ParseComments)
			require.NoError(t, err)
			parsed[folder] = append(parsed[folder], syntax)
			collectNames(syntax, names[path.Base(folder)])
		}
	}
	checked := 0
	for folder, syntaxes := range parsed {
		for _, syntax := range syntaxes {
			for _, group := range syntax.Comments {
				for _, match := range docLink.FindAllStringSubmatch(group.Text(), -1) {
					pkg, name := path.Base(folder), match[1]
					if qualifier, rest, _ := strings.Cut(name, "."); qualifier == strings.ToLower(qualifier) {
						pkg, name = qualifier, rest
					}
					if names[pkg] != nil {
						receiver, _, _ := strings.Cut(name, ".")
						assert.True(t, names[pkg][name] || names[pkg][receiver+" is an alias"], "%s: [%s]", files.Position(group.Pos()), match[1])
						checked++
					}
				}
			}
		}
	}
	assert.Greater(t, checked, 200)
}

// collectNames adds the names that a file declares: N, and T.N for methods and fields.
func collectNames(syntax *ast.File, names map[string]bool) {
	for _, decl := range syntax.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			name := decl.Name.Name
			if decl.Recv != nil {
				ast.Inspect(decl.Recv.List[0].Type, func(n ast.Node) bool {
					if id, ok := n.(*ast.Ident); ok {
						names[id.Name+"."+name] = true
					}
					return true
				})
				continue
			}
			names[name] = true
		case *ast.GenDecl:
			for _, spec := range decl.Specs {
				switch spec := spec.(type) {
				case *ast.ValueSpec:
					for _, name := range spec.Names {
						names[name.Name] = true
					}
				case *ast.TypeSpec:
					names[spec.Name.Name] = true
					names[spec.Name.Name+" is an alias"] = spec.Assign.IsValid()
					ast.Inspect(spec.Type, func(n ast.Node) bool {
						if field, ok := n.(*ast.Field); ok {
							for _, name := range field.Names {
								names[spec.Name.Name+"."+name.Name] = true
							}
						}
						return true
					})
				}
			}
		}
	}
}
