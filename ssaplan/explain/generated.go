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
		out[kind] = mustParse(slices.Concat(v.Assigned, v.Generated)...)
	})
	return out
}()

// generatedAlways are those of every object.
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

// keyOf returns the kind of an object as the table of generated fields has it.
func keyOf(obj map[string]any) string { return fmt.Sprintf("%v/%v", obj["apiVersion"], obj["kind"]) }

// generatedIn returns the fields that the server made up for obj, the answer to a dry run that creates it, without
// those that are declared or left to the server. In a map that is declared as empty nothing is declared.
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

// listsWith returns those of the fields that are lists whose keys aren't known, and in which the patterns match
// something.
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

// madeInMaps returns what the patterns match in maps that are declared as empty. To a record such a map is one whole
// until it is given up, and then no more.
func madeInMaps(patterns projection.Patterns, obj map[string]any, filled projection.FieldSet) projection.FieldSet {
	var found []projection.Path
	for p, v := range projection.Project(obj, filled).Leaves() {
		_, inside := withoutAssigned(v, p, patterns.Match)
		found = append(found, inside...)
	}
	return projection.NewFieldSet(found...)
}

// withoutAssigned returns v, the value at a path, without the fields in it for which the server picks values, and
// these.
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

// isHeadless reports whether an object is a Service without a cluster IP. It has the same text in clusterIPs.
func isHeadless(obj map[string]any) bool {
	ip, _, _ := unstructured.NestedString(obj, "spec", "clusterIP")
	return ip == "None"
}

var clusterIPs = projection.Path{projection.Field("spec"), projection.Field("clusterIPs")}

// isDefault reports whether v is what the server gives to the field at p, which lies in an item, if it has no value.
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

// isSetAgain reports whether a server is known to set what the object has at p again if an apply leaves it out. In an
// item that is only so of a map that stays, because others than tools have something in it: kept.
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
