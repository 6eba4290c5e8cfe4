package docs_test

import (
	"go/ast"
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ssaplan/primitives/internal/rows"
	"github.com/ssaplan/primitives/ssaplan"
)

// The programs that plan with the library for their users, by the folder of their code.
const (
	hostCommand   = "examples/kubectl-ssaplan/cmd"
	hostTerraform = "examples/terraform-provider-ssaplan/provider"
	hostOperator  = "ctrlssaplan"
)

// A new field of the options or of a request is set by each host, or testdata/leftout.yaml says why a host
// doesn't.
func TestHostsSetEachOption(t *testing.T) {
	leftOut := map[string]map[string]string{}
	for _, row := range rows.Read[struct{ Field, Command, Terraform, Operator string }](t, "leftout") {
		leftOut[row.Field] = map[string]string{hostCommand: row.Command, hostTerraform: row.Terraform, hostOperator: row.Operator}
	}
	known := map[string]bool{}
	for _, host := range []string{hostCommand, hostTerraform, hostOperator} {
		set := fieldsSetIn(t, host)
		for _, of := range []reflect.Type{reflect.TypeFor[ssaplan.Options](), reflect.TypeFor[ssaplan.Request]()} {
			for i := range of.NumField() {
				if !of.Field(i).IsExported() {
					continue
				}
				field := of.Name() + "." + of.Field(i).Name
				known[field] = true
				switch reason := leftOut[field][host]; {
				case set[field]:
					assert.Empty(t, reason, "%s sets %s: remove the reason from leftout.yaml", host, field)
				default:
					assert.NotEmpty(t, reason, "%s doesn't set %s: set it, or say in leftout.yaml why not", host, field)
				}
			}
		}
	}
	for field := range leftOut {
		assert.True(t, known[field], "leftout.yaml has %s, which doesn't exist", field)
	}
}

// fieldsSetIn returns the fields of ssaplan.Options and ssaplan.Request that the code in a folder sets: in a literal,
// or in a variable that is a parameter, a literal, or the result of a function of the folder.
func fieldsSetIn(t *testing.T, folder string) map[string]bool {
	t.Helper()
	s := setFields{results: map[string]string{}, found: map[string]bool{}}
	files := sources(t, folder)
	for _, file := range files {
		for _, decl := range file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && f.Type.Results != nil {
				s.results[f.Name.Name] = planningType(f.Type.Results.List[0].Type)
			}
		}
	}
	for _, file := range files {
		for _, decl := range file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && f.Body != nil {
				s.variables = map[string]string{}
				for _, parameter := range f.Type.Params.List {
					for _, name := range parameter.Names {
						s.variables[name.Name] = planningType(parameter.Type)
					}
				}
				ast.Inspect(f.Body, s.visit)
			}
		}
	}
	return s.found
}

// planningType returns "Options" or "Request" for a type of package ssaplan or a list of it, and "" for others.
func planningType(of ast.Expr) string {
	if list, ok := of.(*ast.ArrayType); ok {
		of = list.Elt
	}
	selector, ok := of.(*ast.SelectorExpr)
	if !ok || selector.Sel.Name != "Options" && selector.Sel.Name != "Request" {
		return ""
	}
	if name, ok := selector.X.(*ast.Ident); !ok || name.Name != "ssaplan" {
		return ""
	}
	return selector.Sel.Name
}

// setFields collects the fields that are set.
type setFields struct {
	results   map[string]string // what functions return first
	variables map[string]string // of the function
	found     map[string]bool
}

func (s setFields) visit(node ast.Node) bool {
	switch node := node.(type) {
	case *ast.CompositeLit:
		if of := planningType(node.Type); of != "" {
			for _, element := range node.Elts {
				s.found[of+"."+element.(*ast.KeyValueExpr).Key.(*ast.Ident).Name] = true
			}
		}
	case *ast.AssignStmt:
		if name, ok := node.Lhs[0].(*ast.Ident); ok {
			s.variables[name.Name] = s.typeOf(node.Rhs[0])
		}
		for _, to := range node.Lhs {
			if selector, ok := to.(*ast.SelectorExpr); ok {
				if of := s.typeOf(selector.X); of != "" {
					s.found[of+"."+selector.Sel.Name] = true
				}
			}
		}
	}
	return true
}

// typeOf returns the [planningType] of an expression.
func (s setFields) typeOf(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return s.variables[e.Name]
	case *ast.IndexExpr:
		return s.typeOf(e.X)
	case *ast.CompositeLit:
		return planningType(e.Type)
	case *ast.CallExpr:
		switch called := e.Fun.(type) {
		case *ast.Ident:
			if called.Name == "make" {
				return planningType(e.Args[0])
			}
			return s.results[called.Name]
		case *ast.SelectorExpr:
			return s.results[called.Sel.Name]
		}
	}
	return ""
}
