package main

import (
	_ "embed"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strconv"
	"strings"
)

//go:embed switches.go.txt
var switches string

// switchesOf returns the source of what rewritten files of a package call.
func switchesOf(name string) string { return strings.Replace(switches, "PACKAGE", name, 1) }

// A rewriter writes a file anew, with all its mutants in it, each behind a switch. Text between the nodes that change
// stays as it is.
type rewriter struct {
	*loaded
	source  *source
	mutants map[ast.Node][]*mutant // without those that are built alone
	probes  map[ast.Stmt][]*mutant // those that are built alone, by the statement in a block that they are part of
}

// rewrite returns the text of a file with the switches of its mutants.
func (p *loaded) rewrite(s *source) string {
	r := &rewriter{loaded: p, source: s, mutants: map[ast.Node][]*mutant{}}
	alone := map[ast.Node][]*mutant{}
	for _, m := range p.mutants {
		if m.alone {
			alone[m.node] = append(alone[m.node], m)
		} else {
			r.mutants[m.node] = append(r.mutants[m.node], m)
		}
	}
	r.probes = byStatement(s.file, alone)
	return r.between(0, len(s.text), r.children(s.file))
}

// byStatement returns the mutants of nodes by the innermost statement of a block that the node is part of.
func byStatement(file *ast.File, mutants map[ast.Node][]*mutant) map[ast.Stmt][]*mutant {
	found := map[ast.Stmt][]*mutant{}
	var path []ast.Node
	var around []ast.Stmt // for each node of the path
	ast.Inspect(file, func(n ast.Node) bool {
		if n == nil {
			path, around = path[:len(path)-1], around[:len(around)-1]
			return true
		}
		var statement ast.Stmt
		if len(path) > 0 {
			statement = around[len(around)-1]
			if s, ok := n.(ast.Stmt); ok && isBlock(path[len(path)-1]) && !isClause(path[len(path)-1], s) {
				statement = s
			}
		}
		path, around = append(path, n), append(around, statement)
		if statement != nil && mutants[n] != nil {
			found[statement] = append(found[statement], mutants[n]...)
		}
		return true
	})
	return found
}

func isBlock(n ast.Node) bool {
	switch n.(type) {
	case *ast.BlockStmt, *ast.CaseClause, *ast.CommClause:
		return true
	}
	return false
}

// isClause reports whether a statement directly in a block is not one that another may be put before.
func isClause(block ast.Node, s ast.Stmt) bool {
	switch s.(type) {
	case *ast.CaseClause, *ast.CommClause:
		return true
	}
	clause, ok := block.(*ast.CommClause)
	return ok && clause.Comm == s
}

// between returns the text from one offset to another with some nodes in it rewritten.
func (r *rewriter) between(from, to int, nodes []ast.Node) string {
	var b strings.Builder
	for _, n := range nodes {
		b.Write(r.source.text[from:r.offset(n.Pos())])
		b.WriteString(r.node(n))
		from = r.offset(n.End())
	}
	b.Write(r.source.text[from:to])
	return b.String()
}

func (r *rewriter) offset(p token.Pos) int { return r.fset.Position(p).Offset }

// children returns the outermost nodes in n that change, in their order.
func (r *rewriter) children(n ast.Node) []ast.Node {
	var found []ast.Node
	ast.Inspect(n, func(c ast.Node) bool {
		if c == nil || c == n {
			return true
		}
		statement, _ := c.(ast.Stmt)
		if r.mutants[c] == nil && r.probes[statement] == nil {
			return true
		}
		found = append(found, c)
		return false
	})
	slices.SortFunc(found, func(a, b ast.Node) int { return int(a.Pos() - b.Pos()) })
	return found
}

// text returns the text of n with what changes in it, but not n itself, rewritten.
func (r *rewriter) text(n ast.Node) string {
	return r.between(r.offset(n.Pos()), r.offset(n.End()), r.children(n))
}

// whole is like text for a part of a node that changes: the part may change itself.
func (r *rewriter) whole(n ast.Node) string {
	if r.mutants[n] != nil {
		return r.node(n)
	}
	return r.text(n)
}

func (r *rewriter) node(n ast.Node) string {
	text := r.text(n)
	if found := r.mutants[n]; found != nil {
		switch n := n.(type) {
		case *ast.BinaryExpr:
			text = r.binary(n, found)
		case *ast.UnaryExpr:
			text = call("mutant__Neg", found[0].id, r.whole(n.X)) // - is the only one that has a mutant
		case *ast.IncDecStmt:
			text = statement(text, r.whole(n.X)+found[0].to.String(), found[0].id)
		case *ast.AssignStmt:
			for _, m := range found {
				text = statement(text, r.whole(n.Lhs[0])+m.to.String()+r.whole(n.Rhs[0]), m.id)
			}
		case *ast.BranchStmt:
			other := found[0].to.String()
			if n.Label != nil {
				other += " " + n.Label.Name
			}
			text = "if " + on(found[0].id) + " { " + other + " }; " + text
		}
	}
	if s, ok := n.(ast.Stmt); ok {
		for _, m := range r.probes[s] {
			text = "_ = " + on(m.id) + "; " + text
		}
	}
	return text
}

// binary returns an expression that has the value of n, or of one of its mutants. Operands are evaluated as often as
// in n.
func (r *rewriter) binary(n *ast.BinaryExpr, found []*mutant) string {
	x, y := r.whole(n.X), r.whole(n.Y)
	switch n.Op {
	case token.LAND, token.LOR:
		// a || b is !(!a && !b), so one operator is the other with all three negated.
		m := "mutant__v"
		return "func() bool { " + m + " := " + on(found[0].id) +
			"; return (" + operation(n.Op, "("+x+") != "+m, "("+y+") != "+m) + ") != " + m + " }()"
	case token.EQL, token.NEQ:
		return "((" + operation(n.Op, x, y) + ") != " + on(found[0].id) + ")"
	case token.LSS, token.LEQ, token.GTR, token.GEQ:
		name := map[token.Token]string{token.LSS: "Lss", token.LEQ: "Leq", token.GTR: "Gtr", token.GEQ: "Geq"}[n.Op]
		text := operation(n.Op, x, y)
		for _, m := range found {
			if m.mutation == "CONDITIONALS_BOUNDARY" {
				text = call("mutant__"+name, m.id, x, y)
			}
		}
		for _, m := range found {
			if m.mutation == "CONDITIONALS_NEGATION" {
				text = "(" + text + ") != " + on(m.id)
			}
		}
		return "(" + text + ")"
	}
	name := map[token.Token]string{
		token.ADD: "Add", token.SUB: "Sub", token.MUL: "Mul", token.QUO: "Quo", token.REM: "Rem", token.AND: "And",
		token.OR: "Or", token.XOR: "Xor", token.AND_NOT: "AndNot", token.SHL: "Shl", token.SHR: "Shr",
	}[n.Op]
	if basic, ok := r.info.Types[n].Type.(*types.Basic); ok && basic.Info()&types.IsUntyped == 0 {
		name += "[" + basic.Name() + "]"
	}
	return call("mutant__"+name, found[0].id, x, y)
}

func operation(op token.Token, x, y string) string {
	return "(" + x + ") " + op.String() + " (" + y + ")"
}

// statement returns a statement that is one of two. It can stand where only a simple one may.
func statement(original, mutated string, id int) string {
	return "func() { if " + on(id) + " { " + mutated + " } else { " + original + " } }()"
}

func on(id int) string { return "mutant__On(" + strconv.Itoa(id) + ")" }

func call(name string, id int, args ...string) string {
	return name + "(" + strconv.Itoa(id) + ", " + strings.Join(args, ", ") + ")"
}

// aloneIn returns the text of a file with one mutant in it and no switch. Operands stay what they are, whatever binds
// more.
func (p *loaded) aloneIn(s *source, m *mutant) string {
	offset := func(at token.Pos) int { return p.fset.Position(at).Offset }
	_, at := operatorOf(m.node)
	before, after := string(s.text[:offset(at)]), string(s.text[offset(at)+len(m.from.String()):])
	if n, ok := m.node.(*ast.BinaryExpr); ok {
		before = string(s.text[:offset(n.Pos())]) + "((" + p.textOf(s, n.X) + ") "
		after = " (" + p.textOf(s, n.Y) + "))" + string(s.text[offset(n.End()):])
	}
	return before + m.to.String() + after
}
