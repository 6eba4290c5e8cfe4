package fieldowner

import (
	"fmt"
	"strings"

	"github.com/ssaplan/primitives/projection"
)

// TransferKind describes what happened to a manager's ownership of a field.
type TransferKind string

// The kinds of a [Transfer], seen from the manager that it is about.
const (
	// TransferTaken is a field that the manager owns now and that others, named in the change, lost.
	TransferTaken TransferKind = "Taken"
	// TransferShared is a field that the manager and others own now, and didn't own together before.
	TransferShared TransferKind = "Shared"
	// TransferGivenUp is a field that the manager owned and no longer does, and nobody owns it who didn't before. The
	// change names those who still do; if there are none, the field is nobody's. A co-owner who changed the value
	// leaves the same record as a manager who stopped sending it.
	TransferGivenUp TransferKind = "GivenUp"
	// TransferLost is a field that the manager owned, no longer does, and others, named in the change, do instead.
	TransferLost TransferKind = "Lost"
	// TransferDestroyed is a field that others, named in the change, owned and that nobody owns any more: it went with
	// a list item or a map that the manager no longer has, or that it replaced.
	TransferDestroyed TransferKind = "Destroyed"
)

// Transfer is one change of who owns a field. It tells nothing of the field's value, which may be the same.
type Transfer struct {
	Path projection.Path `json:"path"`
	Kind TransferKind    `json:"change"`
	// Owners are the others that the change is about.
	Owners []Owner `json:"managers,omitempty"`
}

// Compare returns how the ownership of the fields that the applier applies differs between two states of an object,
// such as before and after a dry run, in the order of the paths, and what others lose of theirs. Fields that the
// applier alone comes to own, which nobody owned before, are no change. The manager's other entries, such as its own
// updates, are others than the applier, as they are to a server.
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

// others returns who owns exactly p beside the applier.
func (o Ownership) others(p projection.Path, applier Applier) []Owner {
	var out []Owner
	for _, e := range o.entries {
		if !applier.Is(e.Owner) && e.Fields.Has(p) {
			out = append(out, e.Owner)
		}
	}
	return out
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
		changes = append(changes, Transfer{c.path, TransferDestroyed, c.before})
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
	case c.Kind == TransferDestroyed:
		return fmt.Sprintf("%s: destroyed, was owned by %s", c.Path, names)
	case len(c.Owners) > 0:
		return fmt.Sprintf("%s: given up, still owned by %s", c.Path, names)
	}
	return fmt.Sprintf("%s: given up", c.Path)
}

func ownerNames(owners []Owner) string {
	names := make([]string, len(owners))
	for i, o := range owners {
		names[i] = o.String()
	}
	return strings.Join(names, ", ")
}
