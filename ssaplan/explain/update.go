package explain

import (
	"slices"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/projection"
)

// update explains an apply that changes the live object.
func (c *comparison) update(e *Explanation) (err error) {
	if c.liveOwners, err = c.owners.ReadOther(c.Live); err != nil {
		return err
	}
	recorded := c.liveOwners
	c.liveOwners = recorded.Renamed(c.owners.Fields(c.applier().Is), c.Live, c.Answer)
	c.isRenamed = c.isRenamed || !c.liveOwners.Equal(recorded)
	c.previous = c.declaredBefore()
	c.granular = c.itemsOfAtomic(c.previous)
	e.Before = c.declaration.Project(c.Live).WithSensitive(c.Sensitive)
	if c.revealed != nil {
		after := c.declaration
		after.Fields = c.revealed.shown(after.Fields)
		c.edits = projection.Diff(c.revealed.appliedTo(c.Answer).Without(c.unsent),
			c.revealed.Digested(after.Project(c.Answer)))
	}
	if e.Changes, err = c.changes(e); err != nil {
		return err
	}
	e.Changes = c.markAssigned(e.Changes)
	e.Dropped = slices.DeleteFunc(c.liveOwners.Dropped(c.owners, c.Live, c.Answer, c.applier()),
		func(d fieldowner.DroppedField) bool {
			return d.Fate == fieldowner.FateRetained && c.unsent.Covers(d.Path)
		})
	e.Ownership = c.liveOwners.Transfers(c.owners, c.Live, c.Answer, c.applier())
	if e.sameOwners = c.liveOwners.Equal(c.owners); e.sameOwners {
		declared := c.owners.Fields(c.applier().Is)
		answer := projection.NewObject(c.Answer, declared)
		for _, p := range projection.FindOmitted(c.Manifest, c.Answer, declared) {
			if _, isStored := answer.Get(p); isStored {
				e.nulls = append(e.nulls, p) // leaving out the field would delete its key
			} else {
				e.omitted = append(e.omitted, p)
			}
		}
	}
	return nil
}

// changes returns the values that differ: the declared and dropped ones, then the server's side effects.
func (c *comparison) changes(e *Explanation) ([]Change, error) {
	own := c.own(e)
	out := withCause(c.differences(e, own), CauseEdited)
	manifest := projection.NewManifest(c.Manifest, own)
	live := projection.NewObject(c.Live, own)
	for i := range out {
		c.attribute(&out[i], isOverridden(out[i], manifest, live))
		if out[i].Op == projection.OpRemove && isItem(out[i].Path) {
			out[i].Before, _ = live.Get(out[i].Path) // with the fields in it that others own
		}
	}
	if c.declaredOnly {
		return out, nil
	}
	effects, err := c.sideEffects(own, out)
	return append(out, effects...), err
}

// own returns the fields that are declared now or were before. A map that gets a value of another type changes as a
// whole.
func (c *comparison) own(e *Explanation) projection.FieldSet {
	declared := e.After.Fields
	if replaced := valuesAbove(c.Live, c.declaration.Fields, e.Before.Missing); !replaced.Empty() {
		declared = declared.Without(replaced).Union(replaced)
	}
	own := declared.Union(c.previous)
	if own.Equal(declared) {
		return own
	}
	previous := c.previous.WithItems() // fields taken over from an update may lack the item around them
	kept := projection.NewFieldSet(e.After.Missing...).Union(leafMaps(e.After))
	if retyped := leafMaps(e.Before).Difference(kept); !retyped.Empty() {
		return declared.Union(previous.Without(retyped))
	}
	return declared.Union(previous)
}

// leafMaps returns the fields that are compared as a whole and whose value is a map.
func leafMaps(p projection.Projection) projection.FieldSet {
	var paths []projection.Path
	for path := range projection.MapLeaves(p.Object, p.Fields) {
		paths = append(paths, path)
	}
	return projection.NewFieldSet(paths...)
}

// differences returns the differences in the own fields, which mostly are the declared ones.
func (c *comparison) differences(e *Explanation, own projection.FieldSet) []projection.Difference {
	if own.Equal(e.After.Fields) {
		return projection.Diff(e.Before, e.After)
	}
	all := fieldowner.Declaration{Fields: own, Filled: c.declaration.Filled}
	return projection.Diff(all.Project(c.Live), all.Project(c.Answer))
}
