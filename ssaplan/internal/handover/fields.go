package handover

import (
	"fmt"

	"github.com/ssaplan/primitives/projection"
)

// isItem reports whether p leads to an item of a list. The path is from managedFields, so it is never that of the
// object itself.
func isItem(p projection.Path) bool { return p[len(p)-1].Kind() != projection.FieldKind }

// isIn reports whether p is one of the fields, or is in one of them.
func isIn(p projection.Path, fields projection.FieldSet) bool {
	for n := range len(p) + 1 {
		if fields.Has(p[:n]) {
			return true
		}
	}
	return false
}

// without returns the fields without the given ones, and without the maps and lists in which no other field is left. A
// manager that still owns such a map or list as such can seem to own its content.
func without(fields, given projection.FieldSet) projection.FieldSet {
	out := fields.Without(given)
	for p := range given.Leaves().All() {
		for n := len(p) - 1; n > 0; n-- {
			around := projection.NewFieldSet(p[:n])
			if !isItem(p[:n]) && out.Under(p[:n]).Difference(around).Empty() {
				out = out.Difference(around)
			}
		}
	}
	return out
}

// missing returns the fields that the object lacks.
func missing(obj map[string]any, fields projection.FieldSet) projection.FieldSet {
	return projection.NewFieldSet(projection.Project(obj, fields).Missing...)
}

// added returns the fields that only the object after has. An example is a map that was declared as null, which isn't
// stored. The map appears once a field is put into it.
func added(before, after map[string]any, fields projection.FieldSet) projection.FieldSet {
	was, is := projection.NewObject(before, fields), projection.NewObject(after, fields)
	var paths []projection.Path
	for p := range fields.All() {
		_, existed := was.Get(p)
		if _, exists := is.Get(p); exists && !existed {
			paths = append(paths, p)
		}
	}
	return projection.NewFieldSet(paths...)
}

// withStructures returns the fields, and the named fields that contain them.
func withStructures(fields projection.FieldSet) projection.FieldSet {
	var around []projection.Path
	for p := range fields.All() {
		for n := len(p) - 1; n > 0; n-- {
			if p[n-1].Kind() == projection.FieldKind {
				around = append(around, p[:n])
			}
		}
	}
	return fields.Union(projection.NewFieldSet(around...))
}

// namedLists returns the patterns of the lists whose items are among the fields.
func namedLists(fields projection.FieldSet) map[string]bool {
	lists := map[string]bool{}
	for p := range fields.All() {
		if isItem(p) {
			lists[patternOf(p[:len(p)-1])] = true
		}
	}
	return lists
}

// patternOf returns the names of the fields on a path, which are the same for all items of a list.
func patternOf(p projection.Path) string {
	text := ""
	for _, e := range p {
		if e.Kind() == projection.FieldKind {
			text += fmt.Sprintf(".%q", e.Name())
		}
	}
	return text
}
