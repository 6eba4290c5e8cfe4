package docs_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/authresilience"
	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/immutability"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/client"
	"github.com/ssaplan/primitives/ssaplan/deletion"
	"github.com/ssaplan/primitives/ssaplan/write"
)

// advise says in a line what to do about an error of the Planner.
func advise(err error) string {
	var (
		changed   *ssaplan.ChangedError
		refused   *immutability.RefusedError
		replacing *write.ReplaceError
	)
	switch {
	case errors.As(err, &changed):
		return "review the new plan: " + changed.Plan.Reason
	case errors.As(err, &refused):
		return fmt.Sprintf("%s: %s", refused.Verdict.Refusal, cmp.Or(refused.Verdict.Remedy, "correct the manifest"))
	case errors.As(err, &replacing) && len(replacing.Finalizers) > 0: // only in the stage waiting
		return fmt.Sprintf("find the controllers that remove the finalizers %s, then replace again", replacing.Finalizers)
	}
	class := authresilience.Classify(err)
	return fmt.Sprintf("%s: %s", class, class.Describe().Advice)
}

func Example_errors() {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	deployments := objects("shop", "apps", "v1", "deployments")
	planner := must(ssaplan.New(must(client.New(config, client.Options{})), ssaplan.Options{FieldManager: "my-tool", DefaultNamespace: "shop"}))

	web := deployment("web", "web:1")
	_ = unstructured.SetNestedField(web.Object, int64(-1), "spec", "replicas")
	_, err := planner.Plan(ctx, ssaplan.Request{Manifest: web})
	fmt.Println(err)
	fmt.Println("->", advise(err))

	web = deployment("web", "web:1")
	web.SetFinalizers([]string{"example.com/backup"})
	apply(deployments, "my-tool", web)
	edited := deployment("web", "web:2")
	edited.SetFinalizers(web.GetFinalizers())
	plan := must(planner.Plan(ctx, ssaplan.Request{Manifest: edited}))
	patch(deployments, "kubectl", "web", `{"spec": {"replicas": 7}}`, "scale")
	_, err = planner.Apply(ctx, plan)
	fmt.Println(err)
	fmt.Println("->", advise(err))

	stranger := must(ssaplan.New(must(client.New(must(server.ConfigFor("jane")), client.Options{})), ssaplan.Options{FieldManager: "my-tool", DefaultNamespace: "shop"}))
	_, err = stranger.Plan(ctx, ssaplan.Request{Manifest: edited})
	fmt.Println(err)
	fmt.Println("->", advise(err))

	_ = unstructured.SetNestedField(web.Object, "api", "spec", "selector", "matchLabels", "app")
	_ = unstructured.SetNestedField(web.Object, "api", "spec", "template", "metadata", "labels", "app")
	plan = must(planner.Plan(ctx, ssaplan.Request{Manifest: web}))
	_, err = planner.Replace(ctx, plan, deletion.Options{Progress: func(identity.Identity, []string) { cancel() }})
	fmt.Println(err)
	fmt.Println("->", advise(err))
	// Output:
	// apps/v1/Deployment shop/web: invalid: spec.replicas: Invalid value: must be greater than or equal to 0
	// -> Invalid: correct the manifest
	// apps/v1/Deployment shop/web: changed since the plan was made; now Update (1 edited, 1 drifted): review the new plan
	// -> review the new plan: 1 edited, 1 drifted
	// apps/v1/Deployment shop/web: get: deployments.apps "web" is forbidden: User "jane" cannot get resource "deployments" in API group "apps" in the namespace "shop"; and the dry run: deployments.apps "web" is forbidden: User "jane" cannot patch resource "deployments" in API group "apps" in the namespace "shop"
	// -> Authorization: have the user granted the right that is missing (RBAC), or use credentials of another user
	// apps/v1/Deployment shop/web: replace stopped while waiting: the delete waits for finalizers example.com/backup: context canceled; the old object is being deleted: replace again to continue waiting
	// -> find the controllers that remove the finalizers [example.com/backup], then replace again
}

// The pages of errors and plans have a row for everything that a program may have to distinguish.
func TestErrorsPageIsComplete(t *testing.T) {
	page, plans := read(t, "../../docs/errors.md"), read(t, "../../docs/plan.md")
	for _, of := range []struct {
		page, folder string
		types        []string
	}{
		{plans, "ssaplan", []string{"Action", "Deferral", "Presence"}},
		{plans, "ssaplan/deletion", []string{"Action"}},
		{plans, "immutability", []string{"HazardKind"}},
		{page, "ssaplan/write", []string{"Outcome", "Stage"}},
		{page, "immutability", []string{"Refusal", "Certainty"}},
		{page, "authresilience", []string{"Class"}},
	} {
		exported := exports(t, of.folder)
		for _, name := range of.types {
			require.NotEmpty(t, exported.constants[name], "%s.%s", of.folder, name)
			for _, constant := range exported.constants[name] {
				assert.Contains(t, of.page, "\n| `"+constant+"` |", "%s.%s", of.folder, name)
			}
		}
	}
	for _, folder := range packages {
		for _, name := range exports(t, folder).errors {
			assert.Contains(t, rowNames(page), "`"+filepath.Base(folder)+"."+name+"`")
		}
	}
	for _, class := range authresilience.Classes() {
		assert.Contains(t, page, classRow(class))
	}
}

// rowNames returns the names in the first cell of each row of the tables of a page. An error with several names has one
// row.
func rowNames(page string) (names []string) {
	for line := range strings.Lines(page) {
		if row, isRow := strings.CutPrefix(line, "| "); isRow {
			cell, _, _ := strings.Cut(row, " |")
			names = append(names, strings.Split(cell, ", ")...)
		}
	}
	return names
}

func classRow(class authresilience.Class) string {
	d := class.Describe()
	return fmt.Sprintf("| `%s` | %s | %s |\n", class, d.Meaning, d.Advice)
}

var packages = []string{
	"projection", "projection/builtin", "projection/openapi", "identity", "immutability", "authresilience", "authresilience/restconfig",
	"fieldowner",
	"ssaplan", "ssaplan/explain", "ssaplan/write", "ssaplan/deletion", "ssaplan/release", "ssaplan/set", "ssaplan/ssaplantest",
	"ssaplan/server", "ssaplan/client", "ssaplan/dynclient",
}

// Each name of a package that the pages mention exists.
func TestNamesExist(t *testing.T) {
	known := map[string]bool{}
	for _, folder := range packages {
		for name := range exports(t, folder).names {
			known[filepath.Base(folder)+"."+name] = true
		}
	}
	pages, err := filepath.Glob("../../docs/*.md")
	require.NoError(t, err)
	mention := regexp.MustCompile(`\b(projection|builtin|openapi|identity|immutability|authresilience|fieldowner|ssaplan|explain|write|deletion|release|set|ssaplantest)\.[A-Z]\w*(\.[A-Z]\w*)?`)
	found := 0
	for _, page := range append(pages, "../../README.md", "../../CHANGELOG.md") {
		for _, name := range mention.FindAllString(read(t, page), -1) {
			assert.True(t, known[name], "%s: %s", page, name)
			found++
		}
	}
	assert.NotZero(t, found)
}

// read returns a file. It asks for TREE, which make sets to a digest of all files: go test takes a result from its
// cache though a file outside of the module has changed.
func read(t *testing.T, path string) string {
	t.Helper()
	_ = os.Getenv("TREE")
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(text)
}

// exported is what a package exports.
type exported struct {
	names     map[string]bool // N, and T.M for methods
	constants map[string][]string
	types     []string
	errors    []string // types with the method Error, and variables called Err…
}

// sources returns the files of a package, without its tests.
func sources(t *testing.T, folder string) (files []*ast.File) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("../..", folder, "*.go"))
	require.NoError(t, err)
	for _, path := range paths {
		if !strings.HasSuffix(path, "_test.go") {
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
			require.NoError(t, err)
			files = append(files, file)
		}
	}
	require.NotEmpty(t, files)
	return files
}

func exports(t *testing.T, folder string) exported {
	t.Helper()
	out := exported{names: map[string]bool{}, constants: map[string][]string{}}
	for _, file := range sources(t, folder) {
		for _, decl := range file.Decls {
			switch decl := decl.(type) {
			case *ast.FuncDecl:
				out.addFunc(decl)
			case *ast.GenDecl:
				out.addNames(decl)
			}
		}
	}
	return out
}

func (e *exported) addFunc(f *ast.FuncDecl) {
	name := f.Name.Name
	if f.Recv != nil {
		receiver := receiverName(f)
		if !ast.IsExported(receiver) {
			return
		}
		if name == "Error" {
			e.errors = append(e.errors, receiver)
		}
		name = receiver + "." + name
	}
	e.names[name] = true
}

func (e *exported) addNames(decl *ast.GenDecl) {
	for _, spec := range decl.Specs {
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			e.names[spec.Name.Name] = true
			if spec.Name.IsExported() {
				e.types = append(e.types, spec.Name.Name)
			}
			if structure, ok := spec.Type.(*ast.StructType); ok {
				for _, field := range structure.Fields.List {
					for _, name := range field.Names {
						e.names[spec.Name.Name+"."+name.Name] = true
					}
				}
			}
		case *ast.ValueSpec:
			for i, name := range spec.Names {
				e.names[name.Name] = true
				if typed, ok := spec.Type.(*ast.Ident); ok && decl.Tok == token.CONST && name.IsExported() && len(spec.Values) > i {
					if value, ok := spec.Values[i].(*ast.BasicLit); ok {
						e.constants[typed.Name] = append(e.constants[typed.Name], strings.Trim(value.Value, `"`))
					}
				}
				if decl.Tok == token.VAR && strings.HasPrefix(name.Name, "Err") {
					e.errors = append(e.errors, name.Name)
				}
			}
		}
	}
}
