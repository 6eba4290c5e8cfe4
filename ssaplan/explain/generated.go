package explain

import (
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/internal/kinds"
	"github.com/ssaplan/primitives/projection"
)

// generated are the fields that a server makes up for a new object, by kind, beside those of every object.
var generated = func() map[string]projection.Patterns {
	out := map[string]projection.Patterns{}
	kinds.EachValues(func(kind string, v kinds.Values) {
		out[kind] = mustParse(slices.Concat(v.Assigned, v.Generated, v.Timed)...)
	})
	return out
}()

// generatedAlways are the fields that a server generates for a new object of every kind.
var generatedAlways = func() []projection.Path {
	var out []projection.Path
	for _, pattern := range mustParse(kinds.GeneratedAlways()...) {
		path, _ := projection.ParsePath(pattern.String()) // the texts are constants
		out = append(out, path)
	}
	return out
}()

func mustParse(texts ...string) projection.Patterns {
	patterns, err := projection.ParsePatterns(texts...)
	if err != nil {
		panic(err) // the texts are constants
	}
	return patterns
}

// keyOf returns the key of an object's kind in the table of generated fields.
func keyOf(obj map[string]any) string { return fmt.Sprintf("%v/%v", obj["apiVersion"], obj["kind"]) }

// generatedIn returns the fields that the server generated for obj, the answer to a dry run that creates it. It leaves
// out declared fields, and fields that the manifest leaves empty for the server. A map that is declared as empty
// declares none of its content.
func generatedIn(
	obj map[string]any, declared projection.FieldSet, declaration fieldowner.Declaration,
) ([]projection.Path, error) {
	patterns := generated[keyOf(obj)]
	if len(patterns) == 0 {
		return slices.Clone(generatedAlways), nil
	}
	all, err := projection.Outline(obj)
	if err != nil {
		return nil, err
	}
	rest, made := patterns.Split(all.Difference(declared))
	made = made.Union(listsWith(patterns, obj, rest)).Union(madeInMaps(patterns, obj, declaration.Filled))
	made = made.Difference(projection.NewFieldSet(declaration.Assigned...))
	if isHeadless(obj) {
		made = made.Difference(projection.NewFieldSet(clusterIPs))
	}
	return slices.AppendSeq(slices.Clone(generatedAlways), made.All()), nil
}

// listsWith returns the fields that are lists as a whole, and in which the patterns match something. The patterns can't
// match the items of such a list one by one, since the item keys aren't known.
func listsWith(patterns projection.Patterns, obj map[string]any, fields projection.FieldSet) projection.FieldSet {
	var found []projection.Path
	for p, v := range projection.Project(obj, fields).Leaves() {
		if _, isList := v.([]any); isList {
			only := projection.Project(obj, projection.NewFieldSet(p))
			if _, removed := patterns.Remove(only.Object); len(removed) > 0 {
				found = append(found, p)
			}
		}
	}
	return projection.NewFieldSet(found...)
}

// madeInMaps returns the fields that the patterns match in maps that are declared as empty. managedFields record such a
// map like an atomic one until its manager gives it up.
func madeInMaps(patterns projection.Patterns, obj map[string]any, filled projection.FieldSet) projection.FieldSet {
	var found []projection.Path
	for p, v := range projection.Project(obj, filled).Leaves() {
		_, inside := withoutAssigned(v, p, patterns.Match)
		found = append(found, inside...)
	}
	return projection.NewFieldSet(found...)
}

// withoutAssigned returns v, the value at a path, without the fields for which the server picks a value. It also
// returns the paths of these fields.
func withoutAssigned(v any, at projection.Path, isAssigned func(projection.Path) bool) (any, []projection.Path) {
	m, isMap := v.(map[string]any)
	if !isMap {
		return v, nil
	}
	out := make(map[string]any, len(m))
	var found []projection.Path
	for _, name := range slices.Sorted(maps.Keys(m)) {
		path := at.Child(projection.Field(name))
		if isAssigned(path) {
			found = append(found, path)
			continue
		}
		child, below := withoutAssigned(m[name], path, isAssigned)
		out[name], found = child, append(found, below...)
	}
	return out, found
}

// isHeadless reports whether an object is a headless Service: its clusterIP is the text None. Its clusterIPs have the
// same text.
func isHeadless(obj map[string]any) bool {
	ip, _, _ := unstructured.NestedString(obj, "spec", "clusterIP")
	return ip == "None"
}

var clusterIPs = projection.Path{projection.Field("spec"), projection.Field("clusterIPs")}

// isDefault reports whether v is the value that the server sets in the field at p if the field is absent. The field is
// in a list item.
func isDefault(obj *projection.Object, p projection.Path, v any) bool {
	n := len(p)
	for !isItem(p[:n]) {
		n--
	}
	var names []string
	for _, e := range p[n:] {
		names = append(names, e.Name())
	}
	item, _ := obj.Get(p[:n])
	fields, _ := item.(map[string]any)
	return kinds.IsItemDefault(p[n-2].Name(), fields, names, v)
}

// isSetAgain reports whether a server is known to set the live value at p again if an apply leaves it out. For a field
// of a list item, the map around the field must stay, too. It stays if kept has a field in this map. The parameter kept
// has the fields of the applier, and of all managers that aren't tools.
func isSetAgain(obj map[string]any, all *projection.Object, kept projection.FieldSet, p projection.Path) bool {
	if !kinds.IsBuiltin(obj) || isItem(p) {
		return false
	}
	v, _ := all.Get(p)
	if slices.ContainsFunc(p, func(e projection.Element) bool { return e.Kind() != projection.FieldKind }) {
		return !kept.Under(p[:len(p)-1]).Empty() && isDefault(all, p, v)
	}
	names := make([]string, len(p))
	for i, e := range p {
		names[i] = e.Name()
	}
	return kinds.SetsAgain((&unstructured.Unstructured{Object: obj}).GetKind(), names, v)
}
