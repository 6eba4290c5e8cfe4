package fieldowner

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/ssaplan/primitives/projection"
)

// ChangeKind says what happened to a manager's ownership of a field.
type ChangeKind string

// The kinds of a [Change], seen from the manager that it is about.
const (
	// Taken is a field that the manager owns now and that others, named in the change, lost.
	Taken ChangeKind = "Taken"
	// Shared is a field that the manager and others own now, and didn't own together before.
	Shared ChangeKind = "Shared"
	// GivenUp is a field that the manager owned and no longer does, and nobody owns it who didn't before. The change
	// names those who still do; if there are none, the field is nobody's. A co-owner who changed the value leaves the
	// same record as a manager who stopped sending it.
	GivenUp ChangeKind = "GivenUp"
	// Lost is a field that the manager owned, no longer does, and others, named in the change, do instead.
	Lost ChangeKind = "Lost"
)

// Change is one change of who owns a field. It says nothing about the field's value, which may be the same.
type Change struct {
	Path projection.Path
	Kind ChangeKind
	// Owners are the others that the change is about.
	Owners []Owner
}

// Compare returns how the ownership of the fields that manager applies differs between two states of an object, such as
// before and after a dry run, in the order of the paths. Fields that the manager alone comes to own, which nobody owned
// before, are no change. The manager's other entries, such as its own updates, are others than itself, as they are to a
// server.
func Compare(before, after Ownership, manager string) []Change {
	if before.Equal(after) {
		return nil
	}
	had, has := before.Fields(AppliedBy(manager)), after.Fields(AppliedBy(manager))
	var changes []Change
	for p := range had.Union(has).All() {
		c := comparison{
			path: p, had: had.Has(p), has: has.Has(p),
			before: before.others(p, manager), after: after.others(p, manager),
		}
		changes = append(changes, c.changes()...)
	}
	return changes
}

// others returns who owns exactly p beside the manager that applies it.
func (o Ownership) others(p projection.Path, manager string) []Owner {
	var out []Owner
	for _, e := range o.entries {
		if !e.appliedBy(manager) && e.Fields.Has(p) {
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

func (c comparison) changes() []Change {
	losers, winners := without(c.before, c.after), without(c.after, c.before)
	switch {
	case !c.has && len(winners) > 0:
		return []Change{{c.path, Lost, winners}}
	case !c.has:
		return []Change{{c.path, GivenUp, c.after}}
	}
	var changes []Change
	if len(losers) > 0 {
		changes = append(changes, Change{c.path, Taken, losers})
	}
	sharers := winners
	if !c.had {
		sharers = c.after
	}
	if len(sharers) > 0 {
		changes = append(changes, Change{c.path, Shared, sharers})
	}
	return changes
}

// String returns one line: the path, what happened, and the others.
func (c Change) String() string {
	names := ownerNames(c.Owners)
	switch {
	case c.Kind == Taken:
		return fmt.Sprintf("%s: taken from %s", c.Path, names)
	case c.Kind == Shared:
		return fmt.Sprintf("%s: shared with %s", c.Path, names)
	case c.Kind == Lost:
		return fmt.Sprintf("%s: lost to %s", c.Path, names)
	case len(c.Owners) > 0:
		return fmt.Sprintf("%s: given up, still owned by %s", c.Path, names)
	}
	return fmt.Sprintf("%s: given up", c.Path)
}

// MarshalJSON returns {"path","change","managers":[{"manager","operation",…}]}.
func (c Change) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Path     string     `json:"path"`
		Change   ChangeKind `json:"change"`
		Managers []Owner    `json:"managers"`
	}{c.Path.String(), c.Kind, append([]Owner{}, c.Owners...)})
}

func ownerNames(owners []Owner) string {
	names := make([]string, len(owners))
	for i, o := range owners {
		names[i] = o.String()
	}
	return strings.Join(names, ", ")
}
