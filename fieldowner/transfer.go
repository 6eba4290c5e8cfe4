package fieldowner

import (
	"fmt"
	"reflect"

	"github.com/ssaplan/primitives/projection"
)

// TransferKind describes what happened to a manager's ownership of a field.
type TransferKind string

// The kinds of a [Transfer], seen from the manager that it is about.
const (
	// TransferTaken is a field that the manager owns now and that the Owners lost.
	TransferTaken TransferKind = "Taken"
	// TransferShared is a field that the manager and others own now, and didn't own together before.
	TransferShared TransferKind = "Shared"
	// TransferGivenUp is a field that the manager no longer owns and that has no new owner. Owners are those that still
	// own it; if there are none, the field has no owner. managedFields don't show why the manager lost it: a co-owner
	// changed the value, or the manager no longer sent it.
	TransferGivenUp TransferKind = "GivenUp"
	// TransferLost is a field that the manager no longer owns and that the Owners own instead.
	TransferLost TransferKind = "Lost"
	// TransferDisowned is a field that the Owners owned and that has no owner now, although the object still has its
	// value, such as a default of an adopted object. A field also has this kind if it isn't known whether the object
	// still has the value, as in [Compare].
	TransferDisowned TransferKind = "Disowned"
	// TransferDestroyed is a field that the Owners owned and that the object no longer has, or has with a value of
	// another type: it was in a list item or a map that the manager removed or replaced, or it was adopted and isn't in
	// the manifest.
	TransferDestroyed TransferKind = "Destroyed"
)

// Transfer is one change of a field's owners. The value of the field may be the same.
type Transfer struct {
	Path projection.Path `json:"path"`
	Kind TransferKind    `json:"change"`
	// Owners are owners other than the manager. The Kind says whether they lost the field, got it, or still own it.
	Owners []Owner `json:"managers,omitempty"`
}

// Compare returns the changes of ownership between two versions of an object, such as before and after a dry run, in
// the order of the paths. They are the changes at the fields of the applier, and the fields that others lose. A field
// that had no owner and that only the applier owns now is no change. Other entries of the same manager, such as its
// updates, are other owners, as they are to a server. managedFields don't show what becomes of the value of a field
// that has lost its owners, so none is [TransferDestroyed]; see [Ownership.Transfers].
func Compare(before, after Ownership, applier Applier) []Transfer {
	if before.Equal(after) {
		return nil
	}
	had, has := before.Fields(applier.Is), after.Fields(applier.Is)
	var changes []Transfer
	for p := range had.Union(has).Union(before.all.Difference(after.all)).All() {
		c := comparison{
			path: p, had: had.Has(p), has: has.Has(p),
			before: before.others(p, applier), after: after.others(p, applier),
		}
		changes = append(changes, c.changes()...)
	}
	return changes
}

// Transfers does what [Compare] does, and also finds out which fields others lose together with the value; their kind
// is [TransferDestroyed]. live is the object that o was read from, and result the one that after was read from: the
// answer to a dry run or to an apply.
func (o Ownership) Transfers(after Ownership, live, result map[string]any, applier Applier) []Transfer {
	changes := Compare(o, after, applier)
	for i, c := range changes {
		if c.Kind != TransferDisowned {
			continue
		}
		before, existed := projection.Get(live, c.Path) // each by itself, as one item can have the names of two times
		now, exists := projection.Get(result, c.Path)
		isKept := exists && reflect.DeepEqual(before, now)
		if o.all.Under(c.Path).Len() > 1 { // a map or an item as such, of whose content others are the owners
			isKept = exists && reflect.TypeOf(before) == reflect.TypeOf(now)
		}
		if existed && !isKept {
			changes[i].Kind = TransferDestroyed
		}
	}
	return changes
}

// comparison is what is known about one path: whether the manager had it and has it, and which others.
type comparison struct {
	path          projection.Path
	had, has      bool
	before, after []Owner
}

func (c comparison) changes() (changes []Transfer) {
	losers, winners := without(c.before, c.after), without(c.after, c.before)
	if !c.has {
		return c.losses(winners)
	}
	if len(losers) > 0 {
		changes = append(changes, Transfer{c.path, TransferTaken, losers})
	}
	sharers := winners
	if !c.had {
		sharers = c.after
	}
	if len(sharers) > 0 {
		changes = append(changes, Transfer{c.path, TransferShared, sharers})
	}
	return changes
}

// losses returns the changes of a field that the manager doesn't own afterwards.
func (c comparison) losses(winners []Owner) (changes []Transfer) {
	switch {
	case c.had && len(winners) > 0:
		changes = append(changes, Transfer{c.path, TransferLost, winners})
	case c.had:
		changes = append(changes, Transfer{c.path, TransferGivenUp, c.after})
	}
	if len(c.after) == 0 && len(c.before) > 0 {
		changes = append(changes, Transfer{c.path, TransferDisowned, c.before})
	}
	return changes
}

// String returns one line: the path, what happened, and the others.
func (c Transfer) String() string {
	names := ownerNames(c.Owners)
	switch {
	case c.Kind == TransferTaken:
		return fmt.Sprintf("%s: taken from %s", c.Path, names)
	case c.Kind == TransferShared:
		return fmt.Sprintf("%s: shared with %s", c.Path, names)
	case c.Kind == TransferLost:
		return fmt.Sprintf("%s: lost to %s", c.Path, names)
	case c.Kind == TransferDisowned:
		return fmt.Sprintf("%s: without an owner, was owned by %s", c.Path, names)
	case c.Kind == TransferDestroyed:
		return fmt.Sprintf("%s: destroyed, was owned by %s", c.Path, names)
	case len(c.Owners) > 0:
		return fmt.Sprintf("%s: given up, still owned by %s", c.Path, names)
	}
	return fmt.Sprintf("%s: given up", c.Path)
}
