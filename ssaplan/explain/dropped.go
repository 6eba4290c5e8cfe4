package explain

import (
	"slices"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/projection"
)

// declaredBefore returns the fields that the manager's last apply declared. It leaves out the maps that were declared
// as empty and filled by others. managedFields record an empty map like an atomic one, and the answer helps to
// distinguish them.
func (c *comparison) declaredBefore() projection.FieldSet {
	recorded := c.liveOwners.Fields(c.applier().Is)
	if recorded.Equal(c.declaration.Fields) {
		return recorded.Difference(c.declaration.Filled).Without(c.unsent)
	}
	last := c.liveOwners.Declared(nil, c.Live, c.applier())
	if !last.Filled.Empty() { // a map that the manifest declares with content is atomic, not empty
		last.Filled = last.Filled.Difference(c.declaration.Content(c.declaration.Fields.Leaves()))
	}
	return last.Content(last.Fields).Difference(c.declaration.Filled).Without(c.unsent)
}

// itemsOfAtomic returns the items of lists that were atomic in the live object, if the manifest now declares single
// items of the list. The lists are among the fields.
func (c *comparison) itemsOfAtomic(fields projection.FieldSet) projection.FieldSet {
	partly := fields.Above(c.declared)
	if partly.Empty() {
		return projection.FieldSet{}
	}
	var lists []projection.Path
	all := c.liveOwners.Fields(nil)
	for p := range partly.All() {
		v, _ := projection.NewObject(c.Live, all).Get(p)
		if list, _ := v.([]any); len(list) > 0 && all.Under(p).Len() == 1 { // no item has an owner, so it was atomic
			lists = append(lists, p)
		}
	}
	whole := projection.NewFieldSet(lists...)
	items, _ := projection.Project(c.Live, whole).Reshaped(c.declared, projection.FieldSet{}, true, c.Live)
	return items.Fields.Difference(whole)
}

// abandoned returns stored fields with their fates. The object still has these fields, but the manifest doesn't have
// them any more, and the manager doesn't own them. Imported fields are an example.
func (c *comparison) abandoned() []fieldowner.DroppedField {
	if c.revealed == nil || c.Live == nil {
		return nil
	}
	declared, applied := c.declaration.Fields, c.revealed.Applied.Fields
	whole := c.declaration.Content(declared.Leaves())
	remembered := c.inParts(applied.Leaves().WithItems().Difference(declared))
	remembered = remembered.Difference(c.previous).Difference(c.granular).Without(whole).Without(c.unsent)
	if remembered.Empty() {
		return nil
	}
	live := projection.Project(c.Live, remembered)
	return c.owners.Fates(remembered.Without(projection.NewFieldSet(live.Missing...)), c.Live, c.Answer, c.applier())
}

// inParts returns the stored fields. A list or map of which the manifest declares a part is replaced by its content. An
// import stores a list or map as a whole if no part of it has an owner.
func (c *comparison) inParts(remembered projection.FieldSet) projection.FieldSet {
	partly := remembered.Above(c.declaration.Fields)
	if partly.Empty() {
		return remembered
	}
	outline, _ := projection.Outline(c.Live, c.Answer) // the records were read before, so there is no error
	var parts []projection.Path
	applied := projection.NewObject(c.revealed.Applied.Object, outline)
	for whole := range partly.All() {
		for p := range outline.Under(whole).Leaves().Difference(c.declaration.Fields).All() {
			if _, had := applied.Get(p); had {
				parts = append(parts, p)
			}
		}
	}
	return remembered.Difference(partly).Union(projection.NewFieldSet(parts...))
}

// inGranularLists returns dropped list items with their fates. The manager owned their lists as a whole, and the lists
// aren't atomic any more. The server doesn't delete the items, since managedFields have no owner of them.
func (c *comparison) inGranularLists() []fieldowner.DroppedField {
	return c.owners.Fates(c.granular, c.Live, c.Answer, c.applier())
}

// redactedDropped returns the dropped fields redacted: fields of list items whose keys are sensitive values become one
// field, the list, for each fate and its owners.
func (c *comparison) redactedDropped(dropped []fieldowner.DroppedField) []fieldowner.DroppedField {
	for i := range dropped {
		dropped[i].Sensitive = dropped[i].Sensitive || c.Sensitive.Touches(dropped[i].Path)
	}
	pathOf := func(d *fieldowner.DroppedField) *projection.Path { return &d.Path }
	return redactedOnce(dropped, c.Sensitive.RedactedPath, pathOf, sameFate)
}

// sameFate reports whether two dropped fields have the same fate and the same owners.
func sameFate(a, b fieldowner.DroppedField) bool {
	return a.Fate == b.Fate && slices.EqualFunc(a.Owners, b.Owners, fieldowner.Owner.Is)
}
