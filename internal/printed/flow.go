package printed

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// flow follows the text of somebody else through the functions of a package.
type flow struct {
	info    *types.Info
	foreign map[types.Object]bool // variables that have such text, and functions that return it
}

// follow notes what the functions do with such text, until nothing is found any more.
func (f *flow) follow(functions []*ast.FuncDecl) {
	for before := -1; before != len(f.foreign); {
		before = len(f.foreign)
		for _, function := range functions {
			f.receive(function)
			ast.Inspect(function.Body, func(n ast.Node) bool {
				f.assigns(n)
				return true
			})
			f.gives(function)
		}
	}
}

// receive notes the parameters of a function that always have foreign text, for every caller.
func (f *flow) receive(function *ast.FuncDecl) {
	handles := function.Recv != nil && slices.Contains(handlers, function.Name.Name)
	ast.Inspect(function, func(n ast.Node) bool {
		if list, ok := n.(*ast.FuncType); ok {
			for _, field := range list.Params.List {
				for _, name := range field.Names {
					f.assign(name, (handles || name.Name == "finalizers") && isText(f.info.TypeOf(name)))
				}
			}
		}
		return true
	})
}

// gives notes a function that returns text of somebody else.
func (f *flow) gives(function *ast.FuncDecl) {
	ast.Inspect(function.Body, func(n ast.Node) bool {
		if returned, ok := n.(*ast.ReturnStmt); ok && slices.ContainsFunc(returned.Results, f.is) {
			f.foreign[f.info.Defs[function.Name]] = true
		}
		_, inner := n.(*ast.FuncLit)
		return !inner
	})
}

// printed returns the expressions with foreign text that a function prints.
func (f *flow) printed(function *ast.FuncDecl) (found []ast.Expr) {
	speaks := function.Recv != nil && (function.Name.Name == "String" || function.Name.Name == "Error")
	ast.Inspect(function.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			found = append(found, f.printedBy(n)...)
		case *ast.KeyValueExpr:
			if key, ok := n.Key.(*ast.Ident); ok && f.isShown(key) && f.is(n.Value) {
				found = append(found, n.Value)
			}
		case *ast.AssignStmt:
			for i, left := range n.Lhs {
				field, ok := left.(*ast.SelectorExpr)
				if ok && len(n.Rhs) == len(n.Lhs) && f.isShown(field.Sel) && f.is(n.Rhs[i]) {
					found = append(found, n.Rhs[i])
				}
			}
		case *ast.ReturnStmt:
			if speaks && len(n.Results) == 1 && f.is(n.Results[0]) {
				found = append(found, n.Results[0])
			}
		}
		return true
	})
	return found
}

// isShown reports whether a name is the name of a field whose text is shown to users. The field must be one of this
// module, or of a Condition in a status. A program that fills in a field of another type, such as a Status, doesn't
// show its text.
func (f *flow) isShown(name *ast.Ident) bool {
	field, ok := f.info.Uses[name].(*types.Var)
	if !ok || !field.IsField() || !slices.Contains(shown, field.Name()) || !isText(field.Type()) {
		return false
	}
	return field.Pkg() != nil && (isOfCondition(field) || isOurs(field.Pkg().Path()))
}

// isOfCondition reports whether a field is one of the conditions that people read in a status.
func isOfCondition(field *types.Var) bool {
	condition := field.Pkg().Scope().Lookup("Condition")
	if condition == nil || nameOf(condition.Type()) != meta+"Condition" {
		return false
	}
	fields := condition.Type().Underlying().(*types.Struct)
	for i := range fields.NumFields() {
		if fields.Field(i) == field {
			return true
		}
	}
	return false
}

func isOurs(path string) bool { return len(path) >= len(ours) && path[:len(ours)] == ours }

// assigns notes the variables to which a statement assigns text of somebody else.
func (f *flow) assigns(n ast.Node) {
	switch n := n.(type) {
	case *ast.AssignStmt:
		for i, left := range n.Lhs {
			if len(n.Rhs) == len(n.Lhs) {
				f.assign(left, f.is(n.Rhs[i]))
			} else {
				f.assign(left, f.is(n.Rhs[0]) && isText(f.info.TypeOf(left)))
			}
		}
	case *ast.ValueSpec:
		for i, name := range n.Names {
			f.assign(name, len(n.Values) == len(n.Names) && f.is(n.Values[i]))
		}
	case *ast.CallExpr:
		f.passes(n)
	case *ast.RangeStmt:
		for _, of := range []ast.Expr{n.Key, n.Value} {
			if of != nil && isText(f.info.TypeOf(of)) {
				f.assign(of, f.is(n.X))
			}
		}
	}
}

// passes notes the parameters of a function of the package that get text of somebody else.
func (f *flow) passes(call *ast.CallExpr) {
	function, ok := called(f.info, call).(*types.Func)
	if !ok {
		return
	}
	parameters := function.Signature().Params()
	for i, arg := range call.Args {
		at := min(i, parameters.Len()-1)
		if at >= 0 && isText(parameters.At(at).Type()) && f.is(arg) {
			f.foreign[parameters.At(at)] = true
		}
	}
}

func (f *flow) assign(left ast.Expr, isForeign bool) {
	id, ok := left.(*ast.Ident)
	if !ok || !isForeign {
		return
	}
	object := f.info.Defs[id]
	if object == nil {
		object = f.info.Uses[id]
	}
	if object != nil {
		f.foreign[object] = true
	}
}

// is reports whether an expression is text of somebody else that would be printed as it is.
func (f *flow) is(e ast.Expr) bool {
	if t := f.info.Types[e]; t.Value != nil || t.Type != nil && !isText(t.Type) && !t.IsType() {
		if _, several := t.Type.(*types.Tuple); !several || t.Value != nil {
			return false
		}
	}
	switch e := e.(type) {
	case *ast.ParenExpr:
		return f.is(e.X)
	case *ast.Ident:
		return f.foreign[f.info.Uses[e]]
	case *ast.SelectorExpr:
		return f.isSource(e)
	case *ast.BinaryExpr:
		return e.Op == token.ADD && (f.is(e.X) || f.is(e.Y))
	case *ast.IndexExpr:
		return f.is(e.X)
	case *ast.SliceExpr:
		return f.is(e.X)
	case *ast.CallExpr:
		return f.returns(e)
	case *ast.CompositeLit:
		return slices.ContainsFunc(e.Elts, f.is)
	}
	return false
}

// isSource reports whether a field holds text of somebody else.
func (f *flow) isSource(e *ast.SelectorExpr) bool {
	selected := f.info.Selections[e]
	if selected == nil || selected.Kind() != types.FieldVal {
		return false
	}
	owner := selected.Recv()
	for _, i := range selected.Index()[:len(selected.Index())-1] { // through what is embedded
		t := owner
		if p, ok := t.Underlying().(*types.Pointer); ok {
			t = p.Elem()
		}
		owner = t.Underlying().(*types.Struct).Field(i).Type()
	}
	return slices.Contains(fields[nameOf(owner)], e.Sel.Name)
}

// returns reports whether a call returns text of somebody else.
func (f *flow) returns(call *ast.CallExpr) bool {
	if t := f.info.Types[call.Fun]; t.IsType() && len(call.Args) == 1 {
		return nameOf(f.info.TypeOf(call.Args[0])) == textType || f.is(call.Args[0])
	}
	if builtin, ok := call.Fun.(*ast.Ident); ok && builtin.Name == "append" {
		return slices.ContainsFunc(call.Args, f.is)
	}
	if f.foreign[called(f.info, call)] {
		return true
	}
	path, name, isMethod := callee(f.info, call)
	if isMethod {
		return slices.Contains(methods, name) && len(call.Args) == 0
	}
	return slices.Contains(functions[path], name) || slices.Contains(passing, path) &&
		slices.ContainsFunc(call.Args, f.is)
}

// printedBy returns the arguments of a call that it prints as they came.
func (f *flow) printedBy(call *ast.CallExpr) (found []ast.Expr) {
	path, name, isMethod := callee(f.info, call)
	if isOurs(path) && name == "WriteString" || !slices.Contains(printing, path) &&
		!(isMethod && slices.Contains(printingMethod, name)) {
		return nil
	}
	for _, arg := range call.Args {
		if f.is(arg) {
			found = append(found, arg)
		}
	}
	return found
}
