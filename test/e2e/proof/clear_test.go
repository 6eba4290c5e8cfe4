package proof_test

import (
	"context"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/projection/foreign"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/explain"
)

// takesAway reports whether carrying out the plan may take fields away from others, which the apply alone doesn't.
func (t *trial) takesAway() bool {
	isCleared := t.plan != nil && slices.ContainsFunc(t.plan.Changes, isClearing)
	return t.before != nil && t.planIs(ssaplan.ActionNoOp, ssaplan.ActionUpdate) && (len(t.clear) > 0 || isCleared)
}

// clears reports whether there is anything to clear that the manifest doesn't declare.
func (t *trial) clears() bool {
	outline, err := projection.Outline(t.before.Object)
	t.check(clearing, err == nil, "%v", err)
	owners, err := fieldowner.Read(t.before.Object)
	t.check(clearing, err == nil, "%v", err)
	isDeclared := func(p projection.Path) bool { return len(valuesAt(t.wire.Object, p)) > 0 }
	for _, p := range t.toClear(owners) {
		if below := outline.Under(p).Leaves(); !isDeclared(p) || slices.ContainsFunc(slices.Collect(below.All()), func(p projection.Path) bool { return !isDeclared(p) }) {
			return true
		}
	}
	return slices.ContainsFunc(t.plan.Changes, isClearing)
}

func isClearing(c explain.Change) bool { return c.Cause == explain.CauseCleared }

// refusesClearing reports whether no plan of an update was made, though the server would accept the apply without
// anything cleared.
func (t *trial) refusesClearing(ctx context.Context) bool {
	if len(t.clear) == 0 || t.before == nil || t.planIs(ssaplan.ActionNoOp, ssaplan.ActionUpdate) {
		return false
	}
	var err error
	t.dryRun, err = t.object.apply(ctx, t.wire, t.step, metav1.DryRunAll)
	return err == nil
}

// judgeRefusedClearing has a bare client take over what was to be cleared, and apply the manifest without it: the
// server refuses that, too, or doesn't clear all, or takes more away than that: of a list or map that has one owner as
// a whole the rest as well, if no other owns it.
func (t *trial) judgeRefusedClearing(ctx context.Context) error {
	t.over, t.outcome = true, "refused without what is cleared"
	owners, err := fieldowner.Read(t.before.Object)
	if err != nil {
		return err
	}
	outline, err := projection.Outline(t.before.Object)
	if err != nil {
		return err
	}
	var found []projection.Path
	asked := projection.NewFieldSet(t.toClear(owners)...)
	rest := projection.NewObject(t.before.DeepCopy().Object, owners.Fields(nil).Union(asked))
	for p := range asked.All() {
		found = slices.Concat(found, []projection.Path{p}, slices.Collect(outline.Under(p).Leaves().All()), slices.Collect(owners.Fields(nil).Under(p).All()))
		rest.Remove(p)
	}
	cleared := projection.NewFieldSet(slices.DeleteFunc(found, func(p projection.Path) bool { return len(valuesAt(t.wire.Object, p)) > 0 })...)
	owner := fieldowner.Owner{Manager: foreign.Text(t.step.By), Operation: fieldowner.OperationApply, APIVersion: foreign.Text(t.before.GetAPIVersion())}
	taken, err := fieldowner.HandOver(t.before.Object, func(e fieldowner.Entry) fieldowner.Entry {
		e.Fields = e.Fields.Without(cleared)
		return e
	}, fieldowner.Entry{Owner: owner, Fields: cleared})
	if err != nil {
		return err
	}
	patch, err := taken.Patch()
	if err != nil {
		return err
	}
	resource, err := t.object.resource(t.manifest.GroupVersionKind())
	if err != nil {
		return err
	}
	_, err = resource.Patch(ctx, t.object.name, types.JSONPatchType, patch, metav1.PatchOptions{FieldManager: t.step.By})
	if err == nil {
		_, err = t.object.apply(ctx, t.wire, t.step)
	}
	live, failed := t.object.get(ctx, t.manifest)
	left := slices.DeleteFunc(slices.Collect(cleared.Leaves().All()), func(p projection.Path) bool { _, exists := valueAt(live, p); return !exists })
	takesMore := false
	own := owners.Fields(t.step.applier().Is) // which goes if the manifest lacks it, whatever is cleared
	for p := range outline.All() {
		value, exists := rest.Get(p)
		_, stays := valueAt(live, p)
		takesMore = takesMore || exists && !stays && own.Under(p).Empty() && !own.Covers(p) && !isHollow(value)
	}
	t.check(clearing, err != nil || len(left) > 0 || takesMore, "planned %v %v, and the server takes the apply, and clears it all", t.plan, t.planErr)
	return failed
}

// toClear returns the fields to clear that the object has. Positions refer to the lists of the manifest, and match
// nothing in a list that the manifest doesn't have.
func (t *trial) toClear(owners fieldowner.Ownership) []projection.Path {
	names := owners.Fields(nil)
	return t.clear.Named(t.wire.Object, names).Find(t.before.Object, names)
}

// judgeCleared looks whether what the plan calls cleared was there, and is called the writing of the one who wrote it
// last: a plan names items by the keys of today, which the record may not have. Of all that was to be cleared and isn't
// in the manifest, others own nothing any more.
func (t *trial) judgeCleared() {
	before, err := fieldowner.Read(t.before.Object)
	t.check(clearing, err == nil, "%v", err)
	after, err := fieldowner.Read(t.after.Object)
	t.check(clearing, err == nil, "%v", err)
	for _, c := range t.plan.Changes {
		if isClearing(c) {
			if t.step.ClearBlocking {
				t.meet(blockingShape)
			}
			_, existed := valueAt(t.before, c.Path)
			writers := lastWriters(before.Renamed(projection.NewFieldSet(c.Path), t.before.Object), c.Path)
			isWriter := slices.Contains(writers, string(c.Manager)) || len(writers) == 0 && c.Manager == ""
			t.check(clearing, existed && isWriter, "%v: was there: %t; written last by %v", c, existed, writers)
		}
	}
	left := after.Fields(func(o fieldowner.Owner) bool { return !t.step.applier().Is(o) })
	sent := projection.NewManifest(t.wire.Object, before.Fields(nil))
	today := after.Fields(t.step.applier().Is) // a server finds the items of the manifest by these names
	there, sentToday := projection.NewObject(t.before.Object, today), projection.NewManifest(t.wire.Object, today)
	for _, at := range t.toClear(before) {
		for p := range before.Fields(nil).Under(at).Leaves().All() {
			was, is := p, there.Resolve(p)
			if p.IsKey() { // which the manifest may leave out, if it has a default
				was, is = p[:len(p)-1], is[:len(is)-1]
			}
			_, isSent := sent.Get(was)
			if !isSent && !is.Equal(was) {
				_, isSent = sentToday.Get(is)
			}
			t.check(clearing, isSent || left.Under(p).Empty(), "%s was to be cleared, and others own %s", p, left.Under(p))
		}
	}
}

// lastWriters returns the managers that wrote last to a field, or into it, or to the list or map that it is a part of
// and that has one owner as a whole: all of those that wrote in the same second.
func lastWriters(owners fieldowner.Ownership, p projection.Path) (names []string) {
	all := owners.Fields(nil)
	for n := len(p) - 1; n > 0 && all.Under(p).Empty(); n-- {
		if whole := projection.NewFieldSet(p[:n]); all.Under(p[:n]).Equal(whole) {
			p = p[:n]
		}
	}
	var last time.Time
	for _, e := range owners.Entries() {
		switch {
		case e.Fields.Under(p).Empty() || e.Time.Before(last):
			continue
		case e.Time.After(last):
			last, names = e.Time, nil
		}
		names = append(names, string(e.Manager))
	}
	return names
}

// cleared says what was cleared by the plan that was carried out.
func (t *trial) cleared() (found []string) {
	for _, c := range t.plan.Changes {
		if !t.handedOver || !isClearing(c) {
			continue
		}
		switch {
		case c.Manager == "":
			found = append(found, "cleared what nobody owned")
		case string(c.Manager) != t.step.By:
			found = append(found, "cleared what another owned")
		}
	}
	return found
}
