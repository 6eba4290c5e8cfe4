package primitives_test

import (
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"iter"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The modules are those that programs import: the library and what is beside it, each with its own go.mod.
func TestNoSignatureNamesAnUnstableType(t *testing.T) {
	for _, dir := range strings.Fields(find(t, read(t, "Makefile"), `(?m)^LIBRARIES := (.*)$`)) {
		files := map[string]string{} // export data of the compiler, by import path
		all := publicIn(t, dir)
		// Compiled as this test is, so that the compiler has nothing more to do.
		exports := append([]string{fmt.Sprintf("-race=%t", hasRaceDetector()), "-export", "-deps", "-f", "{{.ImportPath}}={{.Export}}"}, all...)
		for _, line := range listIn(t, dir, exports...) {
			path, file, _ := strings.Cut(line, "=")
			files[path] = file
		}
		packages := importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) { return os.Open(files[path]) })
		for _, path := range all {
			pkg, err := packages.Import(path)
			require.NoError(t, err)
			assert.Empty(t, unstableTypes(pkg), path)
		}
	}
}

// hasRaceDetector reports whether this test was compiled with the race detector.
func hasRaceDetector() bool {
	info, _ := debug.ReadBuildInfo()
	return slices.ContainsFunc(info.Settings, func(s debug.BuildSetting) bool { return s.Key == "-race" && s.Value == "true" })
}

func TestUnstableTypesAreNoticed(t *testing.T) {
	for declarations, want := range map[string]string{
		`func F(int) *merge.Set { panic(0) }`:                                   "F",
		`func F(...[]merge.Set)`:                                                "F",
		`func F(map[merge.Key]func() <-chan [1]int)`:                            "F",
		`func F(map[int]func() <-chan [1]merge.Key)`:                            "F",
		`func F(interface{ M(merge.Set) })`:                                     "F.M",
		`func F[T merge.Setter](T) {}`:                                          "F",
		`func F[T int | *merge.Set](T) {}`:                                      "F",
		`func F(other.List[merge.Set])`:                                         "F",
		`var V = merge.New()`:                                                   "V",
		`var V = other.Make`:                                                    "V",
		`const C = merge.One`:                                                   "C",
		`type T merge.Set`:                                                      "", // has only the fields in common
		`type T = merge.Set`:                                                    "T",
		`type T = []merge.Set`:                                                  "T",
		`type T[K merge.Setter] struct{}`:                                       "T",
		`type T struct { A struct { B merge.Set } }`:                            "T.A.B",
		`type T struct { *merge.Set }`:                                          "T.Set",
		`type T struct { *hidden }; type hidden struct { A merge.Set }`:         "hidden.A",
		`type T struct { *other.Holder }`:                                       "T.Holder.Held",
		`type T struct { hidden other.Holder }`:                                 "",
		`type T struct { hidden }; type hidden struct { other.Maker }`:          "hidden.Make",
		`type T struct{}; func (*T) M() *merge.Set { panic(0) }`:                "T.M",
		`type T interface { M(merge.Set) }`:                                     "T.M",
		`type T interface { other.Interface }`:                                  "T.Make",
		`type T struct { other.Maker }`:                                         "T.Make",
		`func New() *t { panic(0) }; type t struct{}; func (t) M(merge.Set) {}`: "t.M",
		`func New() t[int] { panic(0) }; type t[X any] struct{}; func (t[X]) M(X, merge.Set) {}`: "t.M",

		`func f(merge.Set)`:                                            "", // other packages can't call it
		`type T struct { a merge.Set }`:                                "",
		`type T struct{}; func (T) m(merge.Set) {}`:                    "",
		`func F() other.Holder { panic(0) }`:                           "", // a caller with the type imports that module already
		`type T struct { Next *T; All []map[string]T; other.List[T] }`: "", // of itself
	} {
		got := unstableTypes(typeCheck(t, "package x\nimport (merge \"sigs.k8s.io/structured-merge-diff/v6/fieldpath\"; \"example.com/other\")\n"+
			"var _ merge.Set; var _ other.Holder\n"+declarations))
		if want == "" {
			assert.Empty(t, got, declarations)
			continue
		}
		require.NotEmpty(t, got, declarations)
		assert.Equal(t, want, got[0][:strings.IndexByte(got[0], ' ')], declarations)
	}
	hidden := unstableTypes(typeCheck(t, `package x; import "`+module+`/internal/hidden"; type T = hidden.T`))
	assert.Equal(t, []string{"T names " + module + "/internal/hidden.T"}, hidden)
	got := unstableTypes(typeCheck(t, `package x; import "k8s.io/kube-openapi/pkg/schema"; var V schema.Schema`))
	assert.Equal(t, []string{"V names k8s.io/kube-openapi/pkg/schema.Schema"}, got)
}

// unstableTypes returns where what a package exports names a type of an unstable module, or an internal one of this
// module, which documentation doesn't show.
func unstableTypes(pkg *types.Package) []string {
	s := &signatures{pkg: pkg, walked: map[string]bool{}}
	for _, name := range pkg.Scope().Names() {
		if object := pkg.Scope().Lookup(name); object.Exported() {
			s.walk(name, object.Type())
		}
	}
	return s.found
}

// signatures walks through the types of all that the users of a package can name.
type signatures struct {
	pkg    *types.Package
	walked map[string]bool // the types of this module, which may be recursive
	found  []string
}

func (s *signatures) walk(where string, t types.Type) {
	switch t := t.(type) {
	case *types.Named:
		s.name(where, t.Obj())
		s.walkAll(where, t.TypeArgs().Types())
		if s.ours(t.Obj()) && !s.walked[t.String()] {
			s.walked[t.String()] = true
			s.declaration(t)
		}
	case *types.Alias:
		s.name(where, t.Obj())
		s.walk(where, t.Rhs())
	case *types.Signature:
		s.parameters(where, t.TypeParams())
		s.walk(where, t.Params())
		s.walk(where, t.Results())
	case *types.Tuple:
		for variable := range t.Variables() {
			s.walk(where, variable.Type())
		}
	case *types.Struct:
		for field := range t.Fields() {
			s.field(where+"."+field.Name(), field)
		}
	case *types.Interface:
		for method := range t.Methods() {
			s.method(where, method)
		}
		s.walkAll(where, t.EmbeddedTypes())
	case *types.Union:
		for term := range t.Terms() {
			s.walk(where, term.Type())
		}
	case *types.Map:
		s.walk(where, t.Key())
		s.walk(where, t.Elem())
	case interface{ Elem() types.Type }: // pointers, slices, arrays, channels
		s.walk(where, t.Elem())
	}
}

func (s *signatures) walkAll(where string, all iter.Seq[types.Type]) {
	for t := range all {
		s.walk(where, t)
	}
}

// declaration walks through a type of this module, whichever way it was reached.
func (s *signatures) declaration(t *types.Named) {
	where := t.Obj().Name()
	s.parameters(where, t.TypeParams())
	s.walk(where, t.Underlying())
	for method := range types.NewMethodSet(types.NewPointer(t)).Methods() { // those of embedded types too
		s.method(where, method.Obj())
	}
}

func (s *signatures) parameters(where string, list *types.TypeParamList) {
	for parameter := range list.TypeParams() {
		s.walk(where, parameter.Constraint())
	}
}

func (s *signatures) method(where string, method types.Object) {
	if method.Exported() {
		s.walk(where+"."+method.Name(), method.Type())
	}
}

func (s *signatures) field(where string, field *types.Var) {
	if !field.Exported() && !field.Embedded() {
		return
	}
	s.walk(where, field.Type())
	if field.Embedded() { // its fields are those of the struct, too
		if pointer, ok := types.Unalias(field.Type()).(*types.Pointer); ok {
			s.walk(where, pointer.Elem().Underlying())
		} else {
			s.walk(where, field.Type().Underlying())
		}
	}
}

func (s *signatures) ours(name *types.TypeName) bool {
	return name.Pkg() == s.pkg || name.Pkg() != nil && strings.HasPrefix(name.Pkg().Path(), module+"/")
}

func (s *signatures) name(where string, name *types.TypeName) {
	isInternal := s.ours(name) && name.Pkg() != s.pkg && strings.Contains(name.Pkg().Path(), "/internal/")
	if isInternal || name.Pkg() != nil && within(name.Pkg().Path(), unstable) {
		s.found = append(s.found, where+" names "+name.Pkg().Path()+"."+name.Name())
	}
}

// typeCheck returns the package of a source file, which may import those below.
func typeCheck(t *testing.T, source string) *types.Package {
	t.Helper()
	imports := sources{}
	for _, dependency := range []struct{ path, source string }{
		{"sigs.k8s.io/structured-merge-diff/v6/fieldpath", `package fieldpath
			type Set struct { Members []string }
			type Key string
			type Setter interface { *Set }
			const One Key = "one"
			func New() *Set { return nil }`},
		{"k8s.io/kube-openapi/pkg/schema", `package schema; type Schema struct{}`},
		{module + "/internal/hidden", `package hidden; type T struct{}`},
		{"example.com/other", `package other
			import "sigs.k8s.io/structured-merge-diff/v6/fieldpath"
			type List[T any] struct { items []T }
			type Holder struct { Held fieldpath.Set }
			type Interface interface { Make() *fieldpath.Set }
			type Maker struct{}
			func (Maker) Make() *fieldpath.Set { return nil }
			func Make() *fieldpath.Set { return nil }`},
	} {
		imports[dependency.path] = imports.check(t, dependency.path, dependency.source)
	}
	return imports.check(t, module+"/x", source)
}

// sources are packages that were checked from their source.
type sources map[string]*types.Package

func (s sources) Import(path string) (*types.Package, error) { return s[path], nil }

func (s sources) check(t *testing.T, path, source string) *types.Package {
	t.Helper()
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, "x.go", source, parser.SkipObjectResolution)
	require.NoError(t, err, source)
	config := types.Config{Importer: s, IgnoreFuncBodies: true}
	pkg, err := config.Check(path, files, []*ast.File{file}, nil)
	require.NoError(t, err, source)
	return pkg
}
