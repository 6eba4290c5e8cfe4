package explain

import (
	"slices"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/projection"
)

// attribute sets the cause of the change of a declared or dropped value.
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
		// A manager that removes a field is no longer in managedFields there.
		change.Cause = CauseUnknown
	}
}

// isOverridden reports whether the manifest declares the value that the object has, and the server changes it.
func isOverridden(c Change, manifest, live *projection.Object) bool {
	if c.Op != projection.OpChange && c.Op != projection.OpRemove {
		return false // there was no value, or the order or the number of items changes
	}
	declared, isDeclared := manifest.Get(c.Path)
	if !isDeclared || !equal(declared, c.Before) {
		return false
	}
	was, _ := live.Get(c.Path) // with the fields in it that are dropped or that others own
	return equal(declared, was)
}

// isDropped reports whether the last apply declared p or a field below it, and the manifest declares neither. If the
// manifest declares a map as empty, the fields that were declared in this map before are dropped.
func (c *comparison) isDropped(p projection.Path) bool {
	return !c.previous.Under(p).Empty() && c.declaration.Fields.Under(p).Empty()
}

// isEdited reports whether the manifest declares another value than before at the path of the change. The stored state
// shows that. Without a state, managedFields show it. A field that our last apply still owns has the value that we
// applied. If another manager wrote a field before our last apply, and still owns it, that apply didn't change the
// field: the manifest was edited since.
func (c *comparison) isEdited(change Change, other fieldowner.Owner, known bool) bool {
	p := change.Path
	if c.Prior != nil {
		return slices.ContainsFunc(c.edits, func(edit projection.Difference) bool {
			// an item was moved, and its value is the same
			isOfOrder := edit.Op == projection.OpMove && change.Op != projection.OpMove
			return !isOfOrder && (edit.Path.HasPrefix(p) || p.HasPrefix(edit.Path))
		})
	}
	isEmptied := change.Op == projection.OpRemove && !c.previous.Under(p).Empty() // a map whose content was declared
	if c.previous.Empty() || c.previous.Covers(p) || isEmptied {
		return true
	}
	if other.Time.IsZero() {
		return false // no other owner, or its write has no time, like a write to the scale subresource; see isTaken
	}
	return known && other.Time.Before(lastApplied(c.Live, c.applier()))
}

// isTaken reports whether a field of another owner is known to have been ours. An update doesn't show that: its manager
// becomes the owner whether or not the field had an owner before. A write to the scale subresource, which has no time,
// takes the field from an owner. That owner was our manager if no other manager wrote to the object itself.
func (c *comparison) isTaken(by fieldowner.Owner) bool {
	return by.Time.IsZero() && !slices.ContainsFunc(c.liveOwners.Entries(), func(e fieldowner.Entry) bool {
		return e.Subresource == "" && !c.applier().Is(e.Owner)
	})
}

// markAssigned removes values from the changes if the server picks them and the manifest doesn't declare them. The dry
// run has only placeholders for them: the real values are known only after the apply. Such values in a new item or map
// become changes of their own.
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

// assignment returns the difference of a field for which the server picks the new value.
func (c *comparison) assignment(at projection.Path) projection.Difference {
	if was, existed := projection.Get(c.Live, at); existed {
		return projection.Difference{Path: at, Op: projection.OpChange, Before: was}
	}
	return projection.Difference{Path: at, Op: projection.OpAdd}
}

// isKept reports whether an apply keeps the value that the answer has at p, although the server picks such values. A
// port that keeps its name keeps its node port, even if its port number changes. A headless Service has no IPs. A dry
// run picks only values that aren't in use. So a value that an item of the live list has already is kept.
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
