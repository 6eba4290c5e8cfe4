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
	"slices"
	"strings"
)

// A mutant is one operator changed into another.
type mutant struct {
	id       int // from 1
	mutation string
	node     ast.Node
	operator *token.Token // in node
	from, to token.Token
	function string // that it is in, "" outside of functions
	text     string // of node, in one line

	alone   bool // it is built into a program of its own
	reached bool // by a test
	verdict verdict
}

type verdict string

const (
	survived verdict = "survived"
	killed   verdict = "killed"
	looped   verdict = "looped" // killed because it used up its CPU time
	hung     verdict = "hung"   // killed because it waited for ever
)

// What gremlins' mutators make of operators, as in its internal/engine/mappings.go.
var mutations = map[string]map[token.Token]token.Token{
	"ARITHMETIC_BASE": {
		token.ADD: token.SUB, token.SUB: token.ADD, token.MUL: token.QUO, token.QUO: token.MUL, token.REM: token.MUL,
	},
	"CONDITIONALS_BOUNDARY": {token.GEQ: token.GTR, token.GTR: token.GEQ, token.LEQ: token.LSS, token.LSS: token.LEQ},
	"CONDITIONALS_NEGATION": {
		token.EQL: token.NEQ, token.NEQ: token.EQL, token.GEQ: token.LSS, token.LSS: token.GEQ, token.GTR: token.LEQ,
		token.LEQ: token.GTR,
	},
	"INCREMENT_DECREMENT": {token.DEC: token.INC, token.INC: token.DEC},
	"INVERT_ASSIGNMENTS": {
		token.ADD_ASSIGN: token.SUB_ASSIGN, token.SUB_ASSIGN: token.ADD_ASSIGN, token.MUL_ASSIGN: token.QUO_ASSIGN,
		token.QUO_ASSIGN: token.MUL_ASSIGN, token.REM_ASSIGN: token.REM_ASSIGN,
	},
	"INVERT_BITWISE": {
		token.AND: token.OR, token.OR: token.AND, token.XOR: token.AND, token.AND_NOT: token.AND, token.SHL: token.SHR,
		token.SHR: token.SHL,
	},
	"INVERT_BWASSIGN": {
		token.AND_ASSIGN: token.OR_ASSIGN, token.OR_ASSIGN: token.AND_ASSIGN, token.XOR_ASSIGN: token.AND_ASSIGN,
		token.AND_NOT_ASSIGN: token.AND_ASSIGN, token.SHL_ASSIGN: token.SHR_ASSIGN, token.SHR_ASSIGN: token.SHL_ASSIGN,
	},
	"INVERT_LOGICAL":   {token.LAND: token.LOR, token.LOR: token.LAND},
	"INVERT_LOOPCTRL":  {token.BREAK: token.CONTINUE, token.CONTINUE: token.BREAK},
	"INVERT_NEGATIVES": {token.SUB: token.ADD},
	"REMOVE_SELF_ASSIGNMENTS": {
		token.ADD_ASSIGN: token.ASSIGN, token.SUB_ASSIGN: token.ASSIGN, token.MUL_ASSIGN: token.ASSIGN,
		token.QUO_ASSIGN: token.ASSIGN, token.REM_ASSIGN: token.ASSIGN, token.AND_ASSIGN: token.ASSIGN,
		token.OR_ASSIGN: token.ASSIGN, token.XOR_ASSIGN: token.ASSIGN, token.SHL_ASSIGN: token.ASSIGN,
		token.SHR_ASSIGN: token.ASSIGN, token.AND_NOT_ASSIGN: token.ASSIGN,
	},
}

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

// find makes mutants of what is listed. Two that change an operator into the same one are one mutant.
func (p *loaded) find(listed []listedMutant) error {
	wanted := map[string][]string{} // mutations by position
	for _, m := range listed {
		position := fmt.Sprintf("%s:%d:%d", m.file, m.Line, m.Column)
		wanted[position] = append(wanted[position], m.Type)
	}
	for _, s := range p.sources {
		function := ""
		for _, declaration := range s.file.Decls {
			if f, ok := declaration.(*ast.FuncDecl); ok {
				function = functionName(f)
			} else {
				function = ""
			}
			ast.Inspect(declaration, func(n ast.Node) bool {
				if operator, at := operatorOf(n); operator != nil {
					position := p.fset.Position(at).String()
					p.add(s, function, n, operator, wanted[position])
					delete(wanted, position)
				}
				return true
			})
		}
	}
	for position := range wanted {
		return fmt.Errorf("gremlins lists a mutant at %s, where no operator is", position)
	}
	return nil
}

func (p *loaded) add(s *source, function string, n ast.Node, operator *token.Token, names []string) {
	seen := map[token.Token]bool{}
	slices.Sort(names) // that of a difference is ARITHMETIC_BASE, and not INVERT_NEGATIVES
	for _, name := range names {
		to := mutations[name][*operator]
		if seen[to] {
			continue
		}
		seen[to] = true
		m := &mutant{mutation: name, node: n, operator: operator, from: *operator, to: to, function: function}
		if !p.viable(m) {
			p.unviable++
			continue
		}
		m.id = len(p.mutants) + 1
		m.text = strings.Join(strings.Fields(p.textOf(s, n)), " ")
		m.alone = function == "" || p.isConstant(n)
		p.mutants = append(p.mutants, m)
	}
}

// viable reports whether the mutant compiles. Comparisons and conditions always do.
func (p *loaded) viable(m *mutant) bool {
	switch m.mutation {
	case "CONDITIONALS_BOUNDARY", "CONDITIONALS_NEGATION", "INVERT_LOGICAL":
		return true
	}
	*m.operator = m.to
	defer func() { *m.operator = m.from }()
	return m.to != m.from && p.check(nil) == nil
}

func (p *loaded) isConstant(n ast.Node) bool {
	e, ok := n.(ast.Expr)
	return ok && p.info.Types[e].Value != nil
}

func (p *loaded) textOf(s *source, n ast.Node) string {
	return string(s.text[p.fset.Position(n.Pos()).Offset:p.fset.Position(n.End()).Offset])
}

// operatorOf returns the operator of a node and its position, nil if it has none that gremlins changes.
func operatorOf(n ast.Node) (*token.Token, token.Pos) {
	switch n := n.(type) {
	case *ast.AssignStmt:
		return &n.Tok, n.TokPos
	case *ast.BinaryExpr:
		return &n.Op, n.OpPos
	case *ast.BranchStmt:
		return &n.Tok, n.TokPos
	case *ast.IncDecStmt:
		return &n.Tok, n.TokPos
	case *ast.UnaryExpr:
		return &n.Op, n.OpPos
	}
	return nil, token.NoPos
}

// functionName returns "Name" or "Type.Name".
func functionName(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return f.Name.Name
	}
	receiver := f.Recv.List[0].Type
	for {
		switch r := receiver.(type) {
		case *ast.StarExpr:
			receiver = r.X
		case *ast.IndexExpr:
			receiver = r.X
		case *ast.IndexListExpr:
			receiver = r.X
		case *ast.Ident:
			return r.Name + "." + f.Name.Name
		default:
			return f.Name.Name
		}
	}
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
