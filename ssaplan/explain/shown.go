package explain

import (
	"slices"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/projection"
)

// A path names an item of a list by its value or key, and so would show it if that is sensitive. What is told of such an item is told of
// the list; see [projection.Patterns.Shown].

// shownDeclaration returns the declaration as it may be shown.
func shownDeclaration(d fieldowner.Declaration, sensitive projection.Patterns) fieldowner.Declaration {
	shown := sensitive.ShownFields(d.Fields)
	if !shown.Equal(d.Fields) {
		d.Filled = d.Filled.Intersection(d.Fields).Intersection(shown)
		d.Fields = shown
	}
	return d
}

// shown makes all paths of the explanation such that they may be shown.
func (c *comparison) shown(e *Explanation) {
	if len(c.Sensitive) == 0 {
		return
	}
	e.Changes = c.shownChanges(e.Changes)
	e.Dropped = shownOnce(e.Dropped, c.Sensitive, func(d *fieldowner.DroppedField) *projection.Path { return &d.Path })
	e.Ownership = ShownTransfers(e.Ownership, c.Sensitive)
	e.Ineffective = shownOnce(e.Ineffective, c.Sensitive, func(i *projection.Ineffective) *projection.Path { return &i.Path })
	e.Ignored = ShownIgnored(e.Ignored, c.Sensitive)
	for _, paths := range []*[]projection.Path{&e.Assigned, &e.Generated, &e.Unknown} {
		*paths = shownPaths(*paths, c.Sensitive)
	}
	for i := range e.Writers {
		e.Writers[i].Stays = shownPaths(e.Writers[i].Stays, c.Sensitive)
	}
}

// shownChanges returns the changes with those of items that can't be named as one of their list.
func (c *comparison) shownChanges(changes []Change) []Change {
	for i := range changes {
		change := &changes[i]
		list := c.Sensitive.Shown(change.Path)
		if len(list) == len(change.Path) {
			continue
		}
		before, existed := projection.Get(c.Live, list)
		after, exists := projection.Get(c.Answer, list)
		change.Difference = projection.Difference{Path: change.Path, Op: projection.OpChange, Before: before, After: after}
		switch {
		case !existed:
			change.Op = projection.OpAdd
		case !exists:
			change.Op = projection.OpRemove
		}
	}
	return shownOnce(changes, c.Sensitive, func(change *Change) *projection.Path { return &change.Path })
}

// ShownTransfers returns the transfers with those of items that can't be named as ones of their list, one for each kind and owners. That
// an item is nobody's any more, whose list may have others of ours, is left out: the change of the list tells it.
func ShownTransfers(transfers []fieldowner.Transfer, sensitive projection.Patterns) []fieldowner.Transfer {
	if len(sensitive) == 0 {
		return transfers
	}
	var out []fieldowner.Transfer
	for _, t := range transfers {
		whole := sensitive.Shown(t.Path)
		isCut := len(whole) < len(t.Path)
		t.Path = whole
		if isCut && t.Kind == fieldowner.TransferGivenUp && len(t.Owners) == 0 {
			continue
		}
		if !isCut || !slices.ContainsFunc(out, func(other fieldowner.Transfer) bool { return sameTransfer(t, other) }) {
			out = append(out, t)
		}
	}
	return out
}

// ShownConflicts returns the conflicts with those in items that can't be named as ones of their list, one for each owner.
func ShownConflicts(conflicts []fieldowner.Conflict, sensitive projection.Patterns) []fieldowner.Conflict {
	var out []fieldowner.Conflict
	for _, c := range conflicts {
		whole := sensitive.Shown(c.Path)
		isKnown := func(other fieldowner.Conflict) bool { return whole.Equal(other.Path) && c.Is(other.Owner) }
		if len(whole) == len(c.Path) || !slices.ContainsFunc(out, isKnown) {
			c.Path = whole
			out = append(out, c)
		}
	}
	return out
}

// shown returns the fields of the object's record as the state has them.
func (s *State) shown(fields projection.FieldSet) projection.FieldSet {
	var whole []projection.Path
	for p := range s.sensitive.All() {
		if below := fields.Under(p); !below.Empty() && !(below.Len() == 1 && below.Has(p)) {
			whole = append(whole, p)
		}
	}
	if whole == nil {
		return fields
	}
	set := projection.NewFieldSet(whole...)
	return fields.Without(set).Union(set)
}

// ShownIgnored returns the fields with those in items that can't be named as one of their list.
func ShownIgnored(fields []IgnoredField, sensitive projection.Patterns) []IgnoredField {
	return shownOnce(fields, sensitive, func(f *IgnoredField) *projection.Path { return &f.Path })
}

func shownPaths(paths []projection.Path, sensitive projection.Patterns) []projection.Path {
	return shownOnce(paths, sensitive, func(p *projection.Path) *projection.Path { return p })
}

// shownOnce returns what there is to tell of paths, with the first of what would be told of a list in place of that of its items.
func shownOnce[T any](all []T, sensitive projection.Patterns, pathOf func(*T) *projection.Path) []T {
	var out []T
	for _, one := range all {
		path := pathOf(&one)
		whole := sensitive.Shown(*path)
		isCut := len(whole) < len(*path)
		isTold := func(other T) bool { return pathOf(&other).Equal(whole) }
		if isCut && slices.ContainsFunc(out, isTold) {
			continue
		}
		*path = whole
		out = append(out, one)
	}
	return out
}
