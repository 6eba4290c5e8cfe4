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

// isHeadless reports whether an object is a Service without a cluster IP. It has the same text in clusterIPs.
func isHeadless(obj map[string]any) bool {
	ip, _, _ := unstructured.NestedString(obj, "spec", "clusterIP")
	return ip == "None"
}

var clusterIPs = projection.Path{projection.Field("spec"), projection.Field("clusterIPs")}

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

// keyOf returns the kind of an object as the table of generated fields has it.
func keyOf(obj map[string]any) string { return fmt.Sprintf("%v/%v", obj["apiVersion"], obj["kind"]) }

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

// markAssigned takes the dummies out of the changes: a value that isn't declared and that the server picks is only
// known once the manifest is applied. Those in an item or map that comes become changes of their own.
func (c *comparison) markAssigned(changes []Change) []Change {
	patterns := slices.Concat(fieldowner.AssignedFields(c.Manifest), c.madeAnew)
	if len(patterns) == 0 {
		return changes
	}
	isAssigned := func(p projection.Path) bool { return patterns.Match(p) && !c.isKept(p) }
	var inside []Change
	for i := range changes {
		change := &changes[i]
		switch {
		case change.Cause != CauseSideEffect && change.Cause != CauseDropped || change.Op == projection.OpRemove:
		case isAssigned(change.Path):
			change.Assigned, change.After = true, nil
		default:
			var found []projection.Path
			change.After, found = withoutAssigned(change.After, change.Path, isAssigned)
			for _, p := range found {
				inside = append(inside, Change{Difference: c.assignment(p), Cause: CauseSideEffect, Assigned: true})
			}
		}
	}
	changes = slices.DeleteFunc(changes, func(change Change) bool { // nothing else differs
		before, _ := withoutAssigned(change.Before, change.Path, isAssigned)
		return change.Before != nil && equal(before, change.After)
	})
	return append(changes, inside...)
}

// assignment returns the difference that a value makes which the server picks for a field.
func (c *comparison) assignment(at projection.Path) projection.Difference {
	if was, existed := projection.Get(c.Live, at); existed {
		return projection.Difference{Path: at, Op: projection.OpChange, Before: was}
	}
	return projection.Difference{Path: at, Op: projection.OpAdd}
}

// isKept reports whether the answer has the value at p, though the server picks it otherwise: a port that keeps its
// name keeps its node port under another number, and a headless Service has no IPs. A dry run picks no value that is in
// use.
func (c *comparison) isKept(p projection.Path) bool {
	value, _ := projection.NewObject(c.Answer, c.owners.Fields(c.applier().Is)).Get(p)
	if value == nil || len(p) < 2 {
		return false
	}
	if isItem(p[:len(p)-1]) && len(c.madeAnew) == 0 {
		list, _ := projection.Get(c.Live, p[:len(p)-2])
		items, _ := list.([]any)
		return slices.ContainsFunc(items, func(item any) bool {
			m, _ := item.(map[string]any)
			return m[p[len(p)-1].Name()] == value
		})
	}
	return p.Equal(clusterIPs) && isHeadless(c.Answer)
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
