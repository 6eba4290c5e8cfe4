package explain

import (
	"slices"

	"github.com/ssaplan/primitives/internal/kinds"
	"github.com/ssaplan/primitives/projection"
)

// opened returns all with the fields of those maps that are declared as empty, in place of the maps themselves: what is
// in them is the server's, or of others.
func (c *comparison) opened(all projection.FieldSet) projection.FieldSet {
	filled := all.Intersection(c.declaration.Filled)
	var inside []projection.Path
	for p := range filled.All() {
		for _, obj := range []map[string]any{c.Live, c.Answer} {
			v, _ := projection.Get(obj, p)
			m, _ := v.(map[string]any)
			for name := range m {
				inside = append(inside, p.Child(projection.Field(name)))
			}
		}
	}
	return all.Difference(filled).Union(projection.NewFieldSet(inside...))
}

// addedTo returns what comes with items that are declared without being declared itself, but for the defaults of their
// fields. Answer is what the server has beside the declared fields.
func (c *comparison) addedTo(items projection.FieldSet, answer projection.Projection) []Change {
	if items.Empty() {
		return nil
	}
	var out []Change
	all := projection.NewObject(c.Answer, c.declaration.Fields)
	builtin := kinds.IsBuiltin(c.Answer)
	for p, v := range answer.Leaves() {
		if !hasAbove(items, p) || p.IsKey() || builtin && isDefault(all, p, v) {
			continue
		}
		d := projection.Difference{Path: p, Op: projection.OpAdd, After: v, Sensitive: answer.Sensitive.Touches(p)}
		out = append(out, Change{Difference: d, Cause: CauseSideEffect})
	}
	return out
}

// hasAbove reports whether p lies in one of the items.
func hasAbove(items projection.FieldSet, p projection.Path) bool {
	for n := range p {
		if items.Has(p[:n]) {
			return true
		}
	}
	return false
}

// isPartOf reports whether a difference outside of the own fields is among the own changes already: it is of an item
// that comes or goes as a whole, or it is the move of an item that has own fields.
func isPartOf(d projection.Difference, own []Change, fields projection.FieldSet) bool {
	if d.Op == projection.OpMove && !fields.Under(d.Path).Empty() {
		return true
	}
	return slices.ContainsFunc(own, func(c Change) bool {
		comesOrGoes := c.Op == projection.OpAdd || c.Op == projection.OpRemove
		return comesOrGoes && d.Path.Equal(c.Path)
	})
}

// duplicates returns what changes of items that are in a list more than once, with the same key or value.
func (c *comparison) duplicates(all projection.FieldSet) []Change {
	return withCause(projection.DiffDuplicates(c.Live, c.Answer, all), CauseSideEffect)
}

// movesOfLeft returns the moves in lists that have items which are left to others, unless the own changes move items
// there.
func (c *comparison) movesOfLeft(own projection.FieldSet, changes []Change) (moves []Change) {
	if c.left.Empty() {
		return nil
	}
	all := own.Union(c.left)
	for _, d := range projection.Diff(c.declaration.ProjectWith(c.Live, all), c.declaration.ProjectWith(c.Answer, all)) {
		isKnown := func(other Change) bool { // in the very list, and not in one that an item of it has
			return other.Op == d.Op && len(other.Path) == len(d.Path) && other.Path.HasPrefix(d.Path[:len(d.Path)-1])
		}
		if d.Op == projection.OpMove && !slices.ContainsFunc(changes, isKnown) {
			moves = append(moves, Change{Difference: d, Cause: CauseSideEffect})
		}
	}
	return moves
}
