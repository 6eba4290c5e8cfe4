package ssaplan

import (
	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/projection"
)

// declaredBy returns the fields that the manager declared when it applied the object: those that are recorded for it,
// without the maps that it declared as empty. Such a map is recorded like a value that is owned as a whole, but what is
// in it belongs to others, and their records show it.
func declaredBy(owners fieldowner.Ownership, manager string) projection.FieldSet {
	declared := owners.Fields(fieldowner.AppliedBy(manager))
	all := owners.Fields(nil) // of all owners together: a leaf of one may have fields of others below it
	if declared.Equal(all) {
		return declared
	}
	return declared.Difference(declared.Leaves().Difference(all.Leaves()))
}

// declaration is what a manifest declared when it was applied.
type declaration struct {
	fields projection.FieldSet
	unkept []projection.Ineffective // what of the manifest has no effect
	left   []projection.Path        // fields that the manifest has as empty, so that the server picks their values
}

// declaredIn returns what the manifest declared when the manager applied it and the server answered with obj. The fields
// are those of declaredBy, without what the server puts into a map that the manifest has empty, and without those that are
// left to the server.
func declaredIn(manifest, obj map[string]any, owners fieldowner.Ownership, manager string) declaration {
	fields := declaredBy(owners, manager)
	d := declaration{fields: fields}
	picked := assignedTo(obj)
	var filled []projection.Path
	for _, u := range projection.FindIneffective(manifest, obj, fields) {
		switch {
		case u.Reason == projection.ReasonFilled:
			filled = append(filled, u.Path)
		case u.Reason != projection.ReasonDefaulted:
			d.unkept = append(d.unkept, u)
		case picked.Match(u.Path):
			d.left = append(d.left, u.Path)
		}
	}
	if others := append(filled, d.left...); len(others) > 0 {
		d.fields = fields.Difference(projection.NewFieldSet(others...))
	}
	return d
}
