package explain

import (
	"slices"

	"github.com/ssaplan/primitives/internal/kinds"
	"github.com/ssaplan/primitives/projection"
)

// sideEffects returns the values that differ in other fields than the own ones. It leaves out those that the changes of
// the own fields contain.
func (c *comparison) sideEffects(own projection.FieldSet, changes []Change) ([]Change, error) {
	content := c.declaration.Content(own)
	names := projection.FieldSet{}
	if c.isRenamed {
		names = content
	}
	all, err := projection.DifferingNamed(c.Live, c.Answer, content, names)
	if err != nil || all.Empty() {
		return nil, err
	}
	effects := append(c.duplicates(all), c.movesOfLeft(own, changes)...)
	rest := c.opened(all).Without(content.Leaves()).WithItems()
	before, after := projection.Project(c.Live, rest), projection.Project(c.Answer, rest)
	var added []projection.Path
	for _, d := range projection.Diff(before, after) {
		switch {
		case !isPartOf(d, changes, own):
			effects = append(effects, Change{Difference: d, Cause: CauseSideEffect})
		case d.Op == projection.OpAdd:
			added = append(added, d.Path)
		}
	}
	return append(effects, c.addedTo(projection.NewFieldSet(added...), after)...), nil
}

// opened returns all fields, but replaces each map that is declared as empty by the fields in the map. The server or
// other managers set these fields.
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

// addedTo returns the fields that the server adds to new declared items, except defaults. answer has the fields that
// aren't declared.
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

// isPartOf reports whether the changes of the own fields already contain the difference d of another field. They do if
// d is of an item that is added or removed as a whole, or if d is the move of an item that has own fields.
func isPartOf(d projection.Difference, own []Change, fields projection.FieldSet) bool {
	if d.Op == projection.OpMove && !fields.Under(d.Path).Empty() {
		return true
	}
	return slices.ContainsFunc(own, func(c Change) bool {
		comesOrGoes := c.Op == projection.OpAdd || c.Op == projection.OpRemove
		return comesOrGoes && d.Path.Equal(c.Path)
	})
}

// duplicates returns the changes of items that are in a list more than once, with the same key or value.
func (c *comparison) duplicates(all projection.FieldSet) []Change {
	return withCause(projection.DiffDuplicates(c.Live, c.Answer, all), CauseSideEffect)
}

// movesOfLeft returns the moves in lists that have ignored items, unless the changes of the own fields move items in
// the same list.
func (c *comparison) movesOfLeft(own projection.FieldSet, changes []Change) (moves []Change) {
	if c.unsent.Empty() {
		return nil
	}
	all := own.Union(c.unsent)
	for _, d := range projection.Diff(c.declaration.ProjectWith(c.Live, all),
		c.declaration.ProjectWith(c.Answer, all)) {
		isKnown := func(other Change) bool { // in the same list, and not in a list inside of an item
			return other.Op == d.Op && len(other.Path) == len(d.Path) && other.Path.HasPrefix(d.Path[:len(d.Path)-1])
		}
		if d.Op == projection.OpMove && !slices.ContainsFunc(changes, isKnown) {
			moves = append(moves, Change{Difference: d, Cause: CauseSideEffect})
		}
	}
	return moves
}
