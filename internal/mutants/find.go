package main

import (
	"fmt"
	"go/ast"
	"go/token"
	"slices"
	"strings"
)

// find finds the mutants that gremlins lists. Two that change an operator into the same one are one mutant.
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
