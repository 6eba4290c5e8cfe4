package explain

import (
	"fmt"
	"slices"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/internal/kinds"
	"github.com/ssaplan/primitives/projection"
)

// comparison finds out how the server's answer differs from the live object, and why.
type comparison struct {
	Input
	owners      fieldowner.Ownership // of the answer
	declaration fieldowner.Declaration
	asShown     fieldowner.Declaration // with all that isn't known or left to others, and hidden lists as a whole
	declared    projection.FieldSet    // with the unknown fields
	left        projection.FieldSet    // to others

	// Of an update:
	liveOwners fieldowner.Ownership
	isRenamed  bool                    // a record names items of lists by other keys than those of today
	previous   projection.FieldSet     // what the manager's last apply declared
	granular   projection.FieldSet     // the items of lists in previous that aren't atomic any more
	edits      []projection.Difference // declared values that differ from the remembered ones

	// Of a replacement:
	madeAnew     projection.Patterns // what the server makes up for the new object
	declaredOnly bool                // nothing is known of the server's side effects
}

// create explains an apply that creates the object.
func (c *comparison) create(e *Explanation) (err error) {
	e.Before = projection.Project(nil, e.After.Fields)
	if e.Generated, err = generatedIn(c.Answer, e.After.Fields, c.declaration); err != nil {
		return fmt.Errorf("dry run: %w", err)
	}
	e.Changes = withCause(projection.Diff(e.Before, e.After), CauseEdited)
	for _, p := range e.Assigned {
		difference := projection.Difference{Path: p, Op: projection.OpAdd}
		e.Changes = append(e.Changes, Change{Difference: difference, Cause: CauseEdited, Assigned: true})
	}
	return nil
}

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
	e.Before = c.declaration.Project(c.Live).Hiding(c.Sensitive)
	if c.clear != nil {
		after := c.declaration
		after.Fields = c.clear.shown(after.Fields)
		c.edits = projection.Diff(c.clear.appliedTo(c.Answer).Without(c.left), c.clear.Digested(after.Project(c.Answer)))
	}
	if e.Changes, err = c.changes(e); err != nil {
		return err
	}
	e.Changes = c.markAssigned(e.Changes)
	e.Dropped = slices.DeleteFunc(c.liveOwners.Dropped(c.owners, c.Live, c.Answer, c.applier()), func(d fieldowner.DroppedField) bool {
		return d.Fate == fieldowner.FateRetained && c.left.Covers(d.Path)
	})
	e.Ownership = c.liveOwners.Transfers(c.owners, c.Live, c.Answer, c.applier())
	if e.sameOwners = c.liveOwners.Equal(c.owners); e.sameOwners {
		declared := c.owners.Fields(c.applier().Is)
		answer := projection.NewObject(c.Answer, declared)
		for _, p := range projection.FindOmitted(c.Manifest, c.Answer, declared) {
			if _, isStored := answer.Get(p); isStored {
				e.nulls = append(e.nulls, p) // without the field, its key would go
			} else {
				e.omitted = append(e.omitted, p)
			}
		}
	}
	return nil
}

// declaredBefore returns what the manager's last apply declared, of which nothing tells what was an empty map but the
// answer.
func (c *comparison) declaredBefore() projection.FieldSet {
	recorded := c.liveOwners.Fields(c.applier().Is)
	if recorded.Equal(c.declaration.Fields) {
		return recorded.Difference(c.declaration.Filled).Without(c.left)
	}
	last := c.liveOwners.Declared(nil, c.Live, c.applier())
	if !last.Filled.Empty() { // the answer shows which of these have one owner
		last.Filled = last.Filled.Difference(c.declaration.Content(c.declaration.Fields.Leaves()))
	}
	return last.Content(last.Fields).Difference(c.declaration.Filled).Without(c.left)
}

// itemsOfAtomic returns the items that the live object has in those of the fields that were atomic lists, and of
// which the manifest declares items by now.
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

// leftBehind returns what becomes of remembered fields that the manifest no longer has and the manager doesn't own
// either, such as those of an import, if the object has them.
func (c *comparison) leftBehind() []fieldowner.DroppedField {
	if c.clear == nil || c.Live == nil {
		return nil
	}
	declared, applied := c.declaration.Fields, c.clear.Applied.Fields
	whole := c.declaration.Content(declared.Leaves())
	remembered := c.inParts(applied.Leaves().WithItems().Difference(declared))
	remembered = remembered.Difference(c.previous).Difference(c.granular).Without(whole).Without(c.left)
	if remembered.Empty() {
		return nil
	}
	live := projection.Project(c.Live, remembered)
	return c.owners.Fates(remembered.Without(projection.NewFieldSet(live.Missing...)), c.Live, c.Answer, c.applier())
}

// inGranularLists returns what becomes of the items of lists that the manager owned as a whole and that aren't atomic
// any more, for those items that the manifest no longer has. The server doesn't delete them, since managedFields have
// no owner of them.
func (c *comparison) inGranularLists() []fieldowner.DroppedField {
	return c.owners.Fates(c.granular, c.Live, c.Answer, c.applier())
}

// inParts returns remembered fields with what was remembered in them in the place of those of which the manifest
// declares a part: an import takes a list or map of which nobody owns a part as a whole.
func (c *comparison) inParts(remembered projection.FieldSet) projection.FieldSet {
	partly := remembered.Above(c.declaration.Fields)
	if partly.Empty() {
		return remembered
	}
	outline, _ := projection.Outline(c.Live, c.Answer) // the records were read before, so there is no error
	var parts []projection.Path
	applied := projection.NewObject(c.clear.Applied.Object, outline)
	for whole := range partly.All() {
		for p := range outline.Under(whole).Leaves().Difference(c.declaration.Fields).All() {
			if _, had := applied.Get(p); had {
				parts = append(parts, p)
			}
		}
	}
	return remembered.Difference(partly).Union(projection.NewFieldSet(parts...))
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
			out[i].Before, _ = live.Get(out[i].Path) // with all that goes with it, whoever owns that
		}
	}
	if c.declaredOnly {
		return out, nil
	}
	content := c.declaration.Content(own)
	names := projection.FieldSet{}
	if c.isRenamed {
		names = content
	}
	all, err := projection.DifferingNamed(c.Live, c.Answer, content, names)
	if err != nil || all.Empty() {
		return out, err
	}
	effects := append(c.duplicates(all), c.movesOfLeft(own, out)...)
	rest := c.opened(all).Without(content.Leaves()).WithItems()
	before, after := projection.Project(c.Live, rest), projection.Project(c.Answer, rest)
	var added []projection.Path
	for _, d := range projection.Diff(before, after) {
		switch {
		case !isPartOf(d, out, own):
			effects = append(effects, Change{Difference: d, Cause: CauseSideEffect})
		case d.Op == projection.OpAdd:
			added = append(added, d.Path)
		}
	}
	return append(append(out, effects...), c.addedTo(projection.NewFieldSet(added...), after)...), nil
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

// own returns what is declared now or was before. A map that becomes something else changes as a whole.
func (c *comparison) own(e *Explanation) projection.FieldSet {
	declared := e.After.Fields
	if replaced := valuesAbove(c.Live, c.declaration.Fields, e.Before.Missing); !replaced.Empty() {
		declared = declared.Without(replaced).Union(replaced)
	}
	own := declared.Union(c.previous)
	if own.Equal(declared) {
		return own
	}
	previous := c.previous.WithItems() // of what was taken over, updates may own fields of items, and not the items
	kept := projection.NewFieldSet(e.After.Missing...).Union(leafMaps(e.After))
	if retyped := leafMaps(e.Before).Difference(kept); !retyped.Empty() {
		return declared.Union(previous.Without(retyped))
	}
	return declared.Union(previous)
}

// leafMaps returns the fields that are compared as a whole and have a map.
func leafMaps(p projection.Projection) projection.FieldSet {
	var paths []projection.Path
	for path := range projection.MapLeaves(p.Object, p.Fields) {
		paths = append(paths, path)
	}
	return projection.NewFieldSet(paths...)
}

// differences compares what is declared now or was before, which mostly are the same fields.
func (c *comparison) differences(e *Explanation, own projection.FieldSet) []projection.Difference {
	if own.Equal(e.After.Fields) {
		return projection.Diff(e.Before, e.After)
	}
	all := fieldowner.Declaration{Fields: own, Filled: c.declaration.Filled}
	return projection.Diff(all.Project(c.Live), all.Project(c.Answer))
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

// attribute finds out why a declared or dropped value changes.
func (c *comparison) attribute(change *Change, isOverridden bool) {
	switch owner, known := latestOther(c.liveOwners, change.Path, c.applier()); {
	case c.isDropped(change.Path):
		change.Cause = CauseDropped
	case isOverridden:
		change.Cause = CauseSideEffect
	case c.isEdited(*change, owner, known):
		change.Cause = CauseEdited
	case c.Prior != nil || known && c.isTaken(owner):
		change.drifted(owner)
	case known:
		change.writtenBy(owner)
		change.Cause = CauseUnknown
	default:
		// Who removes a field leaves no record of it.
		change.Cause = CauseUnknown
	}
}

// isOverridden reports whether the manifest declares what the object has, and the server makes something else of it.
func isOverridden(c Change, manifest, live *projection.Object) bool {
	if c.Op != projection.OpChange && c.Op != projection.OpRemove {
		return false // nothing was there, or it is about the order and the number of items
	}
	declared, isDeclared := manifest.Get(c.Path)
	if !isDeclared || !equal(declared, c.Before) {
		return false
	}
	was, _ := live.Get(c.Path) // with what others have in it, and what is dropped from it
	return equal(declared, was)
}

// isDropped reports whether the last apply declared p itself or something below it, and the manifest declares neither.
// A map that it declares as empty covers what was declared in it, and yet drops it.
func (c *comparison) isDropped(p projection.Path) bool {
	return !c.previous.Under(p).Empty() && c.declaration.Fields.Under(p).Empty()
}

// isEdited reports whether the manifest declares something else where the change is than it did before. The remembered
// state knows. Without one, managedFields tell: the value of a field that our last apply still owns is the one that we
// applied, and what others wrote before it is what it left to them.
func (c *comparison) isEdited(change Change, other fieldowner.Owner, known bool) bool {
	p := change.Path
	if c.Prior != nil {
		return slices.ContainsFunc(c.edits, func(edit projection.Difference) bool {
			isOfOrder := edit.Op == projection.OpMove && change.Op != projection.OpMove // an item was moved, and its value is as it was
			return !isOfOrder && (edit.Path.HasPrefix(p) || p.HasPrefix(edit.Path))
		})
	}
	isEmptied := change.Op == projection.OpRemove && !c.previous.Under(p).Empty() // a map whose content was declared
	if c.previous.Empty() || c.previous.Covers(p) || isEmptied {
		return true
	}
	if other.Time.IsZero() {
		return false // a write to the scale subresource bears no time; it takes a field only from who owned it
	}
	return known && other.Time.Before(lastApplied(c.Live, c.applier()))
}

// isTaken reports whether a field of another owner is known to have been ours. Who updates a field is recorded for it
// whether or not it had an owner. Only a write to the scale subresource, which bears no time, takes a field from an
// owner, which we were if no others wrote to the object itself.
func (c *comparison) isTaken(by fieldowner.Owner) bool {
	return by.Time.IsZero() && !slices.ContainsFunc(c.liveOwners.Entries(), func(e fieldowner.Entry) bool {
		return e.Subresource == "" && !c.applier().Is(e.Owner)
	})
}
