package explain

import (
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/projection/foreign"
)

// Cause says why a value changes.
type Cause string

// The causes of a [Change].
const (
	// CauseEdited: the manifest declares another value than before.
	CauseEdited Cause = "Edited"
	// CauseDrifted: the manifest declares the same value as before, and another writer changed the object. Without a
	// stored state this is known only of a write to the scale subresource.
	CauseDrifted Cause = "Drifted"
	// CauseDropped: the manifest doesn't declare the field, and no manager owns it after the apply. The last apply
	// declared it, or it was taken over from another manager.
	CauseDropped Cause = "Dropped"
	// CauseCleared: the manifest doesn't declare the field, and the request clears it.
	CauseCleared Cause = "Cleared"
	// CauseSideEffect: the server changes the field along with others. The manifest doesn't declare it, or declares the
	// value that the object has: a Service that is no NodePort any more loses its declared node ports.
	CauseSideEffect Cause = "SideEffect"
	// CauseUnknown: the manifest declares the field, and the field has no owner, or an owner that may have written
	// after the last apply. Either the manifest was edited there, or others changed or removed the field or reset it to
	// a default. Only a stored state could decide that.
	CauseUnknown Cause = "Unknown"
)

// causes are all causes in the order in which they are counted, with the words for them.
var causes = []struct {
	cause Cause
	words string
}{
	{CauseEdited, "edited"},
	{CauseDrifted, "drifted"},
	{CauseUnknown, "edited or changed by others"},
	{CauseDropped, "dropped from the manifest"},
	{CauseCleared, "cleared as requested"},
	{CauseSideEffect, "side effect of the server"},
}

// Causes returns all causes, in the order of [Explanation.Summary]. A program with its own words for the causes can
// test that it has words for each.
func Causes() (all []Cause) {
	for _, known := range causes {
		all = append(all, known.cause)
	}
	return all
}

func (c Cause) words() string {
	for _, known := range causes {
		if known.cause == c {
			return known.words
		}
	}
	return string(c)
}

// countCauses counts the changes by cause, in words.
func countCauses(changes []Change) string {
	counts := map[Cause]int{}
	for _, c := range changes {
		counts[c.Cause]++
	}
	var parts []string
	for _, known := range causes {
		if n := counts[known.cause]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, known.words))
		}
	}
	return strings.Join(parts, ", ")
}

// Change is one value that changes, and why.
type Change struct {
	projection.Difference
	Cause Cause
	// Manager is the manager that changed a drifted value; Operation, Subresource and Time are those of this write.
	// They are empty if managedFields don't show it. For [CauseUnknown] it is the manager that owns the field and may
	// have changed it. For a dropped field that was taken over from another manager, and for a cleared one, it is the
	// manager that owned it.
	Manager     foreign.Text
	Operation   string
	Subresource foreign.Text
	Time        time.Time
	// Assigned reports whether the server picks the value when the manifest is applied, so that After isn't known.
	Assigned bool
	// Refused reports whether the change is at, above or below a field that the server doesn't change in place. Only a
	// replacement has such changes.
	Refused bool
}

// Created returns the changes of a create with these values, such as the After of a Deferred plan.
func Created(after projection.Projection) []Change {
	changes := []Change{}
	for _, added := range projection.Diff(projection.Project(nil, after.Fields), after) {
		changes = append(changes, Change{Difference: added, Cause: CauseEdited})
	}
	return changes
}

// withCause returns the differences as changes.
func withCause(differences []projection.Difference, cause Cause) []Change {
	out := make([]Change, len(differences))
	for i, d := range differences {
		out[i] = Change{Difference: d, Cause: cause}
	}
	return out
}

// drifted makes c a drift that the owner caused.
func (c *Change) drifted(by fieldowner.Owner) {
	c.writtenBy(by)
	c.Cause = CauseDrifted
}

// writtenBy sets the manager of c, and its write.
func (c *Change) writtenBy(by fieldowner.Owner) {
	c.Manager, c.Operation, c.Subresource, c.Time = by.Manager, by.Operation, by.Subresource, by.Time
}

// by returns the manager that changed the value, or owned it.
func (c Change) by() fieldowner.Owner {
	return fieldowner.Owner{Manager: c.Manager, Operation: c.Operation, Subresource: c.Subresource}
}

// Same reports whether c and other are the same change of the same field, with the same cause and manager.
func (c Change) Same(other Change) bool {
	return c.Path.Equal(other.Path) && c.Op == other.Op && reflect.DeepEqual(c.Before, other.Before) &&
		reflect.DeepEqual(c.After, other.After) && c.Position == other.Position && c.Sensitive == other.Sensitive &&
		c.Cause == other.Cause && c.Manager == other.Manager && c.Operation == other.Operation &&
		c.Subresource == other.Subresource && c.Assigned == other.Assigned && c.Refused == other.Refused
}

// String returns one line: the change, and why.
func (c Change) String() string {
	switch {
	case c.Refused:
		c.Refused = false
		return c.String() + " (can't change in place)"
	case c.Assigned:
		return fmt.Sprintf("%s: assigned at apply", c.Path)
	case c.Cause == CauseDrifted && c.Manager != "":
		return fmt.Sprintf("%s (drifted: changed by %s)", c.Difference, c.by())
	case c.Cause == CauseUnknown && c.Manager != "":
		return fmt.Sprintf("%s (edited, or changed by %s)", c.Difference, c.by())
	case c.Cause == CauseDropped && c.Manager != "":
		return fmt.Sprintf("%s (not in the manifest, and taken over from %s)", c.Difference, c.by())
	case c.Cause == CauseCleared && c.Manager != "":
		return fmt.Sprintf("%s (cleared as requested; it was of %s)", c.Difference, c.by())
	case c.Cause == CauseEdited:
		return c.Difference.String()
	}
	return fmt.Sprintf("%s (%s)", c.Difference, c.Cause.words())
}

// Format prints [Change.String] whatever the verb, so that no verb shows a sensitive value.
func (c Change) Format(f fmt.State, _ rune) { _, _ = fmt.Fprint(f, c.String()) }

// redactedChanges returns the changes redacted: changes of list items that may not be shown become changes of the list,
// one for each cause and manager. The parameters (was, is) are the objects before and after the change, with the lists.
func redactedChanges(changes []Change, shown func(projection.Path) projection.Path, was, is map[string]any) []Change {
	for i := range changes {
		change := &changes[i]
		list := shown(change.Path)
		if len(list) == len(change.Path) {
			continue
		}
		before, existed := projection.Get(was, list)
		after, exists := projection.Get(is, list)
		change.Difference = projection.Difference{
			Path: change.Path, Op: projection.OpChange, Before: before, After: after, Sensitive: true,
		}
		switch {
		case !existed:
			change.Op = projection.OpAdd
		case !exists:
			change.Op = projection.OpRemove
		}
	}
	return redactedOnce(changes, shown, func(change *Change) *projection.Path { return &change.Path }, sameCause)
}

// sameCause reports whether two changes have the same cause, the same manager and the same marks.
func sameCause(a, b Change) bool {
	return a.Cause == b.Cause && a.by().Is(b.by()) && a.Assigned == b.Assigned && a.Refused == b.Refused
}
