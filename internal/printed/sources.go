package printed

import (
	"go/ast"
	"go/types"
	"strings"
)

const (
	ours     = "github.com/ssaplan/primitives/"
	textType = ours + "projection/foreign.Text"
	meta     = "k8s.io/apimachinery/pkg/apis/meta/v1."
)

// fields hold what somebody else says, or names that somebody else chose.
var fields = map[string][]string{
	meta + "Status":             {"Message", "Reason"},
	meta + "StatusCause":        {"Type", "Message", "Field"},
	meta + "StatusDetails":      {"Name", "Group", "Kind", "UID"},
	meta + "ManagedFieldsEntry": {"Manager", "Operation", "APIVersion", "Subresource"},
	meta + "ObjectMeta": {"Name", "GenerateName", "Namespace", "UID", "ResourceVersion",
		"Finalizers"},
	meta + "OwnerReference":                     {"APIVersion", "Kind", "Name", "UID"},
	ours + "identity.Identity":                  {"APIVersion", "Kind", "Namespace", "Name"},
	ours + "identity.FieldError":                {"Value"},
	ours + "ssaplan/deletion.Finalizer":         {"Name"},
	ours + "ssaplan/deletion.Error":             {"Finalizers"},
	ours + "ssaplan/write.ReplaceError":         {"Finalizers"},
	ours + "internal/answer.Cause":              {"Field", "Type", "message", "detail"},
	ours + "internal/answer.Denial":             {"Text", "User", "Verb"},
	ours + "fieldowner.Owner":                   {"Operation"},
	"k8s.io/client-go/rest.ImpersonationConfig": {"UserName", "UID"},
}

// methods of objects that return names which somebody else chose.
var methods = []string{
	"GetName", "GetGenerateName", "GetNamespace", "GetUID", "GetResourceVersion", "GetFinalizers", "GetKind",
	"GetAPIVersion",
}

// functions that return what an object has at a path, by their package.
var functions = map[string][]string{
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured": {"NestedString", "NestedStringMap", "NestedStringSlice"},
}

// handlers are the methods to which client-go passes the warnings of a server.
var handlers = []string{"HandleWarningHeader", "HandleWarningHeaderWithContext"}

// shown are the names of fields of texts that are printed.
var shown = []string{"Message", "Reason", "Summary", "Detail", "Cause", "Next", "Advice"}

// printing are packages in which every function and method prints. printingMethod are names of methods that print, for
// any type.
var (
	printing       = []string{"fmt", "errors", "log", "log/slog", "github.com/hashicorp/terraform-plugin-log/tflog"}
	printingMethod = []string{
		"AddError", "AddWarning", "AddAttributeError", "AddAttributeWarning", "Event", "Eventf", "WriteString",
		"WithLabelValues",
	}
)

// passing are packages whose functions return what they get, or parts of it.
var passing = []string{"strings", "cmp", "slices", "maps", "bytes", "path", "path/filepath"}

// nameOf returns the name of a type with its package, of what a pointer points to.
func nameOf(t types.Type) string {
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		t = p.Elem()
	}
	named, ok := types.Unalias(t).(*types.Named)
	if !ok || named.Obj().Pkg() == nil {
		return ""
	}
	return named.Obj().Pkg().Path() + "." + named.Obj().Name()
}

// called returns the function or method that is called, nil if it isn't known which.
func called(info *types.Info, call *ast.CallExpr) types.Object {
	var id *ast.Ident
	switch fun := ast.Unparen(call.Fun).(type) {
	case *ast.SelectorExpr:
		id = fun.Sel
	case *ast.Ident:
		id = fun
	case *ast.IndexExpr: // with type arguments
		if selector, ok := fun.X.(*ast.SelectorExpr); ok {
			id = selector.Sel
		}
	}
	return info.Uses[id]
}

// callee returns the package and the name of what is called.
func callee(info *types.Info, call *ast.CallExpr) (path, name string, isMethod bool) {
	function, ok := called(info, call).(*types.Func)
	if !ok || function.Pkg() == nil {
		return "", "", false
	}
	return function.Pkg().Path(), function.Name(), function.Signature().Recv() != nil
}

// isText reports whether values of a type are text, or lists or maps of text, that is printed as it is.
func isText(t types.Type) bool {
	if t == nil || nameOf(t) == textType {
		return false
	}
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return u.Info()&types.IsString != 0 && (!hasMethod(t, "String") && !hasMethod(t, "Format"))
	case *types.Slice:
		return isText(u.Elem())
	case *types.Array:
		return isText(u.Elem())
	case *types.Map:
		return isText(u.Key()) || isText(u.Elem())
	case *types.Signature:
		return u.Results().Len() == 1 && isText(u.Results().At(0).Type())
	case *types.Interface:
		return strings.HasPrefix(t.String(), "iter.")
	}
	return false
}

func hasMethod(t types.Type, name string) bool {
	method, _, _ := types.LookupFieldOrMethod(t, true, nil, name)
	return method != nil
}
