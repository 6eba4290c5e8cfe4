package ssaplan

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/json"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/projection"
)

// comparison finds out how the dry run's answer differs from the live object, and why.
type comparison struct {
	live, dryRun  *unstructured.Unstructured
	manager       string
	before, after projection.Projection // of what the manifest declares
	previous      projection.FieldSet   // what the manager's last apply declared
	liveOwners    fieldowner.Ownership
	edits         []projection.Difference // declared values that differ from the remembered ones
	remembers     bool
}

func newComparison(plan *Plan, dryRun *unstructured.Unstructured, owners fieldowner.Ownership, manager string, prior *State) (*comparison, error) {
	liveOwners, err := owners.ReadOther(plan.live.Object)
	if err != nil {
		return nil, err
	}
	c := &comparison{
		live: plan.live, dryRun: dryRun, manager: manager, before: plan.Before, after: plan.After,
		previous: declaredBy(liveOwners, manager), liveOwners: liveOwners,
	}
	if prior != nil {
		c.remembers = true
		c.edits = projection.Diff(prior.Applied, prior.Digested(c.after))
	}
	return c, nil
}

// declared returns what the manifest declares.
func (c *comparison) declared() projection.FieldSet { return c.after.Fields }

// changes returns the values that differ: the declared and dropped ones, then the server's side effects.
func (c *comparison) changes() ([]Change, error) {
	own := c.own()
	out := c.ownChanges(own)
	for i := range out {
		c.attribute(&out[i])
	}
	all, err := projection.Differing(c.live.Object, c.dryRun.Object, own)
	if err != nil || all.Empty() {
		return out, err
	}
	out = append(out, c.duplicates(all)...)
	for _, change := range c.diff(all.Without(own.Leaves()).WithItems()) {
		if !isPartOf(change, out, own) {
			change.Cause = CauseSideEffect
			out = append(out, change)
		}
	}
	return out, nil
}

// own returns what is declared now or was before. A map that becomes something else changes as a whole.
func (c *comparison) own() projection.FieldSet {
	own := c.declared().Union(c.previous)
	if own.Equal(c.declared()) {
		return own
	}
	kept := projection.NewFieldSet(c.after.Missing...).Union(leafMaps(c.after))
	if retyped := leafMaps(c.before).Difference(kept); !retyped.Empty() {
		return c.declared().Union(c.previous.Without(retyped))
	}
	return own
}

// leafMaps returns the fields that are compared as a whole and have a map.
func leafMaps(p projection.Projection) projection.FieldSet {
	var paths []projection.Path
	for path, v := range p.Leaves() {
		if _, isMap := v.(map[string]any); isMap && p.Fields.Under(path).Len() == 1 {
			paths = append(paths, path)
		}
	}
	return projection.NewFieldSet(paths...)
}

// ownChanges compares what is declared now or was before, which mostly are the same fields.
func (c *comparison) ownChanges(own projection.FieldSet) []Change {
	if own.Equal(c.declared()) {
		return causeless(projection.Diff(c.before, c.after), CauseEdited)
	}
	return c.diff(own)
}

// duplicates returns the elements that come to stand more than once in a list, with the same key or value, and those that
// no longer do. They have no name of their own, so their values aren't told.
func (c *comparison) duplicates(all projection.FieldSet) []Change {
	before := projection.NewFieldSet(projection.Project(c.live.Object, all).Duplicates...)
	after := projection.NewFieldSet(projection.Project(c.dryRun.Object, all).Duplicates...)
	var out []Change
	for p := range before.Difference(after).All() {
		out = append(out, Change{Difference: projection.Difference{Path: p, Op: projection.OpRemove}, Cause: CauseSideEffect})
	}
	for p := range after.Difference(before).All() {
		out = append(out, Change{Difference: projection.Difference{Path: p, Op: projection.OpAdd}, Cause: CauseSideEffect})
	}
	return out
}

// isPartOf reports whether a change outside of the own fields is said already: it is in an element that comes or goes as
// a whole, or it is the move of an element that has own fields.
func isPartOf(change Change, own []Change, fields projection.FieldSet) bool {
	if change.Op == projection.OpMove && !fields.Under(change.Path).Empty() {
		return true
	}
	return slices.ContainsFunc(own, func(c Change) bool {
		comesOrGoes := c.Op == projection.OpAdd || c.Op == projection.OpRemove
		return comesOrGoes && (change.Path.Equal(c.Path) || isItem(c.Path) && change.Path.HasPrefix(c.Path))
	})
}

// isItem reports whether p leads to an element of a list, whose coming and going is told of the element as a whole.
func isItem(p projection.Path) bool {
	return len(p) > 0 && p[len(p)-1].Kind() != projection.FieldKind
}

func (c *comparison) diff(set projection.FieldSet) []Change {
	before, after := projection.Project(c.live.Object, set), projection.Project(c.dryRun.Object, set)
	return causeless(projection.Diff(before, after), CauseEdited)
}

func causeless(changes []projection.Difference, cause Cause) []Change {
	out := make([]Change, len(changes))
	for i, change := range changes {
		out[i] = Change{Difference: change, Cause: cause}
	}
	return out
}

// attribute says why a declared or dropped value changes.
func (c *comparison) attribute(change *Change) {
	if c.isDropped(change.Path) {
		change.Cause = CauseDropped
		return
	}
	if c.isEdited(change.Path) {
		change.Cause = CauseEdited
		return
	}
	owner, known := latestOther(c.liveOwners, change.Path, c.manager)
	if !known && !c.remembers {
		// Without a remembered state and without an owner nothing says that somebody changed it.
		change.Cause = CauseEdited
		return
	}
	change.drifted(owner)
}

// isDropped reports whether the last apply declared p itself or something below it, and the manifest declares neither. A
// map that it declares as empty covers what was declared in it, and yet drops it.
func (c *comparison) isDropped(p projection.Path) bool {
	return !c.previous.Under(p).Empty() && c.declared().Under(p).Empty()
}

// isEdited reports whether the manifest declares something else at p than it did before. The remembered state knows.
// Without one, managedFields tell: the value of a field that our last apply still owns is the one that we applied, and
// a field that somebody else took later is one that we did not edit.
func (c *comparison) isEdited(p projection.Path) bool {
	if c.remembers {
		for _, edit := range c.edits {
			if edit.Path.HasPrefix(p) || p.HasPrefix(edit.Path) {
				return true
			}
		}
		return false
	}
	if c.previous.Empty() || c.previous.Covers(p) {
		return true
	}
	owner, known := latestOther(c.liveOwners, p, c.manager)
	if owner.Time.IsZero() {
		return false // a write to the scale subresource bears no time; it takes a field only from who owned it
	}
	return known && owner.Time.Before(c.lastApplied())
}

// attributeDrift fills in who changed what has drifted, as far as the live object tells.
func attributeDrift(changes []Change, live *unstructured.Unstructured, manager string) error {
	owners, err := fieldowner.Read(live.Object)
	if err != nil {
		return err
	}
	for i := range changes {
		if owner, known := latestOther(owners, changes[i].Path, manager); known {
			changes[i].drifted(owner)
		}
	}
	return nil
}

func (c *Change) drifted(by fieldowner.Owner) {
	c.Cause, c.Manager, c.Operation, c.Subresource, c.Time = CauseDrifted, by.Manager, string(by.Operation), by.Subresource, by.Time
}

// latestOther returns who but the applying manager owns something at p, and wrote last.
func latestOther(owners fieldowner.Ownership, p projection.Path, manager string) (latest fieldowner.Owner, known bool) {
	own := fieldowner.AppliedBy(manager)
	for _, owner := range slices.Concat(owners.Of(p), owners.Below(p)) {
		if !own(owner) && (!known || owner.Time.After(latest.Time)) {
			latest, known = owner, true
		}
	}
	return latest, known
}

// lastApplied returns when the manager last changed something by applying.
func (c *comparison) lastApplied() time.Time {
	own := fieldowner.AppliedBy(c.manager)
	for _, entry := range c.liveOwners.Entries() {
		if own(entry.Owner) {
			return entry.Owner.Time
		}
	}
	return time.Time{}
}

// reason says what an update is about.
func reason(changes []Change) string {
	if len(changes) == 0 {
		return "no value changes, only who owns the fields"
	}
	return summary(changes)
}

// sameObject reports whether the server answered the same. An answer that repeats another byte for byte was not even
// decoded; the same content is found where the answers were decoded by others.
func sameObject(a, b *unstructured.Unstructured) bool {
	return a == b || sameValue(a.Object, b.Object)
}

// sameValue reports whether two values have the same JSON.
func sameValue(a, b any) bool {
	switch x := a.(type) {
	case map[string]any:
		if y, ok := b.(map[string]any); ok {
			return isShared(x, y) || (x == nil) == (y == nil) && maps.EqualFunc(x, y, sameValue)
		}
	case []any:
		if y, ok := b.([]any); ok {
			return (x == nil) == (y == nil) && slices.EqualFunc(x, y, sameValue)
		}
	case string, bool, int64, nil:
		if a == b {
			return true
		}
	}
	x, errA := json.Marshal(a)
	y, errB := json.Marshal(b)
	return errA == nil && errB == nil && string(x) == string(y)
}

// isShared reports whether both are one map in memory, as what a dry run's answer has in common with the live object is.
func isShared(a, b map[string]any) bool {
	return reflect.ValueOf(a).Pointer() == reflect.ValueOf(b).Pointer()
}

// summary counts the changes by cause, in words.
func summary(changes []Change) string {
	counts := map[Cause]int{}
	for _, c := range changes {
		counts[c.Cause]++
	}
	var parts []string
	for _, cause := range []Cause{CauseEdited, CauseDrifted, CauseDropped, CauseSideEffect} {
		if n := counts[cause]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, causeWords[cause]))
		}
	}
	return strings.Join(parts, ", ")
}

var causeWords = map[Cause]string{
	CauseEdited: "edited", CauseDrifted: "drifted", CauseDropped: "dropped from the manifest", CauseSideEffect: "side effect of the server",
}
