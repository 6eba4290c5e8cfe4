package ssaplan

import (
	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/projection"
)

// declaredBy returns the fields that the manager declared when it applied obj: those that are recorded for it, without
// the maps that it declared as empty. Such a map is recorded like a value that is owned as a whole, but what is in it
// belongs to others, and their records show it.
func declaredBy(obj map[string]any, manager string) (projection.FieldSet, error) {
	declared, err := projection.Managed(obj, manager)
	if err != nil {
		return projection.FieldSet{}, err
	}
	owners, err := fieldowner.Read(obj)
	if err != nil {
		return projection.FieldSet{}, err
	}
	leaves := owners.Fields(nil).Leaves() // of all owners together: a leaf of one may have fields of others below it
	return declared.Difference(declared.Leaves().Difference(leaves)), nil
}
