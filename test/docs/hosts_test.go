package docs_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/ssaplan"
)

// The programs that plan with the library for their users, by the folder of their code.
const (
	hostCommand   = "examples/kubectl-ssaplan/cmd"
	hostTerraform = "examples/terraform-provider-ssaplan/provider"
	hostOperator  = "ctrlssaplan"
)

// leftOut are the fields of options and requests that a host doesn't set, with the reason.
var leftOut = map[string]map[string]string{
	"Options.DefaultNamespace": {
		hostTerraform: "what a configuration applies doesn't depend on a kubeconfig; the default is named in yaml_body",
		hostOperator:  "a child in a namespace names it",
	},
	"Options.RequireNamespace": {
		hostCommand:  "the namespace of the context is the default, as in kubectl",
		hostOperator: "a child in a namespace names it",
	},
	"Options.Concurrency": {
		hostCommand:   "the default suits a command",
		hostTerraform: "Terraform plans several resources at a time itself (-parallelism)",
		hostOperator:  "the controller reconciles several owners at a time itself",
	},
	"Options.AllowVersionChange": {
		hostTerraform: "each resource has its own version_change, see Request.AllowVersionChange",
		hostOperator:  "the prior state lasts as long as the process, in which a child keeps its version",
	},
	"Options.Tools": {
		hostCommand:   "--adopt names managers that the library doesn't know",
		hostTerraform: "adopt names managers that the library doesn't know",
		hostOperator:  "no fields are adopted",
	},
	"Options.NoOps": {hostTerraform: "Terraform starts a process for each plan"},
	"Options.Observe": {
		hostCommand: "progress is shown for each object, and requests aren't shown",
	},
	"Options.ThrottleRetries":  {hostOperator: "the default suits a controller, which reconciles again"},
	"Options.ShowValuesOption": {hostOperator: "the option of the kit has the default name"},
	"Options.ShowServerText": {
		hostTerraform: "output of Terraform is stored by many services",
		hostOperator:  "more people read conditions and events than Secrets",
	},
	"Options.SkipFormats": {
		hostCommand:   "a password isn't shown to save a request",
		hostTerraform: "a password isn't shown to save a request",
		hostOperator:  "a password isn't shown to save a request",
	},
	"Options.Logger": {
		hostCommand:   "the output is the plan, and no log",
		hostTerraform: "Observe writes to Terraform's log",
		hostOperator:  "Observe is for the controller's metrics and logs",
	},
	"Options.Credential": {
		hostCommand:   "package client describes its credentials itself",
		hostTerraform: "package client describes its credentials itself",
		hostOperator:  "package client describes its credentials itself",
	},
	"Options.SendExpired": {
		hostCommand:   "an error that names the expired credentials is better than a 401",
		hostTerraform: "an error that names the expired credentials is better than a 401",
		hostOperator:  "an error that names the expired credentials is better than a 401",
	},

	"Request.Adopt":      {hostOperator: "the kit doesn't take objects of others"},
	"Request.AdoptTools": {hostOperator: "the kit doesn't take objects of others"},
	"Request.GiveUp": {
		hostTerraform: "on_destroy = \"release\" gives up a whole object; ignore_fields leaves fields to others",
		hostOperator:  "Child.Ignore leaves fields to others",
	},
	"Request.Strip": {
		hostCommand:   "a user who doesn't want to send a field removes it from the manifest",
		hostTerraform: "a user who doesn't want to send a field removes it from the manifest",
		hostOperator:  "a controller that doesn't want to send a field doesn't set it",
	},
	"Request.Unknown": {
		hostCommand:  "a file has all values",
		hostOperator: "a controller has all values",
	},
	"Request.AllUnknown": {
		hostCommand:   "a file has all values",
		hostTerraform: "planning.unsettled shows the values as unknown without a Planner, which needs a cluster",
		hostOperator:  "a controller has all values",
	},
	"Request.Existing": {hostOperator: "an object that the owner doesn't control is refused before it is planned"},
	"Request.Subresource": {
		hostOperator: "a child is a whole object",
	},
	"Request.AllowVersionChange": {
		hostCommand:  "Options.AllowVersionChange is set for all",
		hostOperator: "the prior state lasts as long as the process, in which a child keeps its version",
	},
	"Request.Live": {
		hostCommand:   "there is no informer",
		hostTerraform: "there is no informer",
	},
	"Request.Propagation": {
		hostCommand:  "there is no flag for it",
		hostOperator: "there is no policy for it",
	},
}

// A new field of the options or of a request is set by each host, or a reason above says why a host doesn't.
func TestHostsSetEachOption(t *testing.T) {
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
					assert.Empty(t, reason, "%s sets %s: remove the reason from leftOut", host, field)
				default:
					assert.NotEmpty(t, reason, "%s doesn't set %s: set it, or say in leftOut why not", host, field)
				}
			}
		}
	}
	for field := range leftOut {
		assert.True(t, known[field], "leftOut has %s, which doesn't exist", field)
	}
}

// fieldsSetIn returns the fields of ssaplan.Options and ssaplan.Request that the code in a folder sets: in a literal,
// or in a variable that is a parameter, a literal, or the result of a function of the folder.
func fieldsSetIn(t *testing.T, folder string) map[string]bool {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("../..", folder, "*.go"))
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	s := setFields{results: map[string]string{}, found: map[string]bool{}}
	var files []*ast.File
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		files = append(files, file)
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
