package docs_test

import (
	"errors"
	"fmt"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What the pages show runs: each Go block of theirs is, line by line apart from indentation, in the tests of a package,
// in code that an Example with an output runs; and each text block is in such an output. The package is this one,
// except for the page of a module that this one doesn't import, and for pages that are programs.
func TestPagesShowWhatRuns(t *testing.T) {
	codeIn := func(folder string) *code {
		tests, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
		require.NoError(t, err)
		code, err := readCode(tests...)
		require.NoError(t, err)
		return code
	}
	ours := codeIn(".")
	pages, err := filepath.Glob("../../docs/*.md")
	require.NoError(t, err)
	shown := 0
	for _, page := range append(pages, "../../README.md", "../../ctrlssaplan/README.md", "../../otelssaplan/README.md") {
		code := ours
		if page == "../../otelssaplan/README.md" {
			code = codeIn("../../otelssaplan")
		}
		isProgram := strings.HasPrefix(page, "../../docs/") && programOf(filepath.Base(page)) != nil
		if isProgram {
			code, err = codeOfProgram(filepath.Base(page), ours.outputs)
			require.NoError(t, err)
		}
		text, err := os.ReadFile(page)
		require.NoError(t, err)
		for _, block := range blocks(string(text)) {
			if block.lines[0] == "package main" && (isProgram || slices.Contains([]string{"../../README.md", "../../docs/terraform-run.md"}, page)) {
				shown++ // a test compiles and runs it
				continue
			}
			assert.NoError(t, code.check(block), "%s, line %d", page, block.line)
			shown++
		}
	}
	assert.NotZero(t, shown)
}

func TestBlocksThatDoNotRunAreNoticed(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x_test.go")
	require.NoError(t, os.WriteFile(file, []byte(`package x

import "fmt"

type greeter struct{}

func (greeter) name() string {
	return "you"
}

func greet() {
	fmt.Println("hello")
}

func unused() {
	fmt.Println("never")
}

func Example() {
	greet()
	// Output: hello
}

func Example_unchecked() {
	fmt.Println("unchecked")
}
`), 0o600))
	code, err := readCode(file)
	require.NoError(t, err)
	for text, want := range map[string]string{
		"```go\nfmt.Println(\"hello\")\n```":     "",
		"```text\nhello\n```":                    "",
		"```go\nfmt.Println(\"hallo\")\n```":     "no code",
		"```go\nfunc greet() {\n```":             "",
		"```go\nfmt.Println(\"never\")\n```":     "unused",
		"```go\nreturn \"you\"\n```":             "greeter.name",
		"```go\nfmt.Println(\"unchecked\")\n```": "Example_unchecked",
		"```text\nhallo\n```":                    "no Example prints",
		"```go\nimport (\n\"fmt\"\n)\n```":       "no file",
	} {
		found := blocks(text)
		require.Len(t, found, 1)
		if err := code.check(found[0]); want == "" {
			assert.NoError(t, err, text)
		} else {
			assert.ErrorContains(t, err, want, text)
		}
	}
}

func TestDeclarationsAreCheckedOneByOne(t *testing.T) {
	found := blocks("x\n```go\ntype a int\n\n// f is one.\nfunc f() {\n\tx()\n\n\ty()\n}\n```\n")
	assert.Equal(t, []block{
		{"go", 2, []string{"type a int"}},
		{"go", 5, []string{"// f is one.", "func f() {", "x()", "", "y()", "}"}},
	}, found)
}

// block is a fenced piece of a page.
type block struct {
	language string
	line     int // of the page
	lines    []string
}

// blocks returns the Go and text blocks of a page. A Go block of several declarations is several blocks.
func blocks(page string) []block {
	var out []block
	var open *block
	for i, line := range strings.Split(page, "\n") {
		language, fence := strings.CutPrefix(line, "```")
		switch {
		case fence && open == nil:
			open = &block{language: language, line: i + 1}
		case fence:
			if open.language == "go" || open.language == "text" {
				out = append(out, *open)
			}
			open = nil
		case open != nil && open.language == "go" && !strings.HasPrefix(open.firstLine(), "package ") && declares(line) && len(open.lines) > 0 && open.lines[len(open.lines)-1] == "":
			open.lines = open.lines[:len(open.lines)-1]
			out = append(out, *open)
			open = &block{language: "go", line: i + 1, lines: []string{strings.TrimSpace(line)}}
		case open != nil:
			open.lines = append(open.lines, strings.TrimSpace(line))
		}
	}
	return out
}

// firstLine returns the first line of a block, "" if it has none yet.
func (b block) firstLine() string {
	if len(b.lines) == 0 {
		return ""
	}
	return b.lines[0]
}

// declares reports whether a line begins a declaration or the comment of one.
func declares(line string) bool {
	return slices.ContainsFunc([]string{"func ", "type ", "const ", "var ", "// "}, func(start string) bool { return strings.HasPrefix(line, start) })
}

// code is a package of Examples.
type code struct {
	files   []file
	ran     map[string]bool // names of functions and types that Examples with an output mention, directly or not
	outputs [][]string
}

type file struct {
	lines []string
	funcs []function
}

type function struct {
	name        string // of a method with its type: T.name
	first, last int    // lines, from 1
	mentions    []string
}

func readCode(paths ...string) (*code, error) {
	c := &code{ran: map[string]bool{}}
	fset := token.NewFileSet()
	var parsed []*ast.File
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		syntax, err := parser.ParseFile(fset, path, text, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		parsed = append(parsed, syntax)
		c.files = append(c.files, file{lines: trimmed(string(text)), funcs: functions(fset, syntax)})
	}
	for _, example := range doc.Examples(parsed...) {
		if example.Output != "" {
			c.outputs = append(c.outputs, trimmed(example.Output))
			c.run("Example" + example.Name)
		}
	}
	return c, nil
}

func trimmed(text string) []string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimSpace(line)
	}
	return lines
}

func functions(fset *token.FileSet, syntax *ast.File) []function {
	var out []function
	for _, decl := range syntax.Decls {
		f, ok := decl.(*ast.FuncDecl)
		if !ok {
			continue
		}
		one := function{name: f.Name.Name, first: fset.Position(f.Pos()).Line, last: fset.Position(f.End()).Line}
		ast.Inspect(f, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok {
				one.mentions = append(one.mentions, id.Name)
			}
			return true
		})
		if f.Recv != nil {
			one.name = receiverName(f) + "." + one.name
		}
		out = append(out, one)
	}
	return out
}

// receiverName returns the name of the type that f is a method of.
func receiverName(f *ast.FuncDecl) string {
	var name string
	ast.Inspect(f.Recv.List[0].Type, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && name == "" {
			name = id.Name // the first one; those of a generic type's parameters follow
		}
		return name == ""
	})
	return name
}

// run notes that the declaration of that name runs, and everything that it mentions. Frameworks call methods by names
// that can't be seen here, so those of a type run with the type.
func (c *code) run(name string) {
	if c.ran[name] {
		return
	}
	c.ran[name] = true
	for _, file := range c.files {
		for _, f := range file.funcs {
			if receiver, _, _ := strings.Cut(f.name, "."); receiver == name {
				c.ran[f.name] = true
				for _, mentioned := range f.mentions {
					c.run(mentioned)
				}
			}
		}
	}
}

// check returns an error if the block isn't part of what runs.
func (c *code) check(b block) error {
	if b.language == "text" {
		for _, output := range c.outputs {
			if find(output, b.lines) >= 0 {
				return nil
			}
		}
		return errors.New("no Example prints this text")
	}
	if b.lines[0] == "import (" {
		return c.checkImports(b.lines)
	}
	for _, file := range c.files {
		if at := find(file.lines, b.lines); at >= 0 {
			return c.checkRan(file, at+1, at+len(b.lines))
		}
	}
	return errors.New("no code like this in the tests")
}

// checkImports returns an error unless a file imports all that the lines do.
func (c *code) checkImports(lines []string) error {
	for _, file := range c.files {
		if !slices.ContainsFunc(lines, func(line string) bool { return !slices.Contains(file.lines, line) }) {
			return nil
		}
	}
	return errors.New("no file of the tests has these imports")
}

func (c *code) checkRan(file file, first, last int) error {
	for _, f := range file.funcs {
		if f.first <= last && first <= f.last && !c.ran[f.name] {
			return fmt.Errorf("no Example with an output runs %s", f.name)
		}
	}
	return nil
}

// find returns the position of part in whole, or -1 if whole lacks it.
func find(whole, part []string) int {
	for i := range whole {
		if len(whole)-i >= len(part) && slices.Equal(whole[i:i+len(part)], part) {
			return i
		}
	}
	return -1
}
