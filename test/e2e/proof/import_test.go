package proof_test

import (
	"context"
	"reflect"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/explain"
)

// shorter is the property of imports that are followed by a manifest that lacks some of what was imported.
const shorter = "imports and shorter manifests"

// judgeShorter imports the object, plans a manifest that lacks some of it with what the import remembers, and compares
// what becomes of the rest. It does so for a part of the trials: those that supply the object, as it is.
func (t *trial) judgeShorter(ctx context.Context) {
	if t.before == nil || !t.step.Supply || t.before.GetDeletionTimestamp() != nil || hasOtherVersions(t.before) || t.before != t.supplied {
		return
	}
	imported, err := fieldowner.NewManifest(t.before.Object, t.imported())
	if err != nil || len(imported.Missing) > 0 || imported.Fields.Empty() {
		return
	}
	state, err := explain.NewImportedState(imported, t.before.Object, t.step.By)
	if !t.check(shorter, err == nil, "%v", err) {
		return
	}
	planner := t.object.cluster.of(t.step.By).forcing.tested
	reading, err := planner.Read(ctx, state)
	if t.check(shorter, err == nil, "%v", err) && reading.Presence == ssaplan.PresenceFound {
		t.check(shorter, len(reading.Drift) == 0, "drift of what was imported: %v", reading.Drift)
	}
	m := &unstructured.Unstructured{Object: withoutSome(copyOf(imported.Object))}
	plan, err := planner.Plan(ctx, ssaplan.Request{Manifest: m, Prior: state, Live: t.before.DeepCopy()})
	if err != nil || !slices.Contains([]ssaplan.Action{ssaplan.ActionNoOp, ssaplan.ActionUpdate}, plan.Action) {
		return // what the server says of it is the matter of other trials
	}
	after, err := t.object.apply(ctx, m, Step{By: t.step.By, Force: true}, metav1.DryRunAll)
	if t.check(shorter, err == nil, "planned %v, in reality %v", plan, err) {
		t.shortened = true
		t.judgeLeft(plan, state, after)
	}
}

// imported says what is imported: everything, or what the first manager in the record has.
func (t *trial) imported() fieldowner.Selection {
	records := t.before.GetManagedFields()
	if !t.step.Force || len(records) == 0 || records[0].Subresource != "" {
		return fieldowner.Selection{}
	}
	return fieldowner.Selection{
		Strategy: fieldowner.ManagerFields, Manager: records[0].Manager, Operation: string(records[0].Operation),
	}
}

// withoutSome takes every third of a manifest's optional values out of it.
func withoutSome(m map[string]any) map[string]any {
	all := places(m)
	for i, at := range slices.Backward(all) { // positions at the end of lists go before those at the front
		isIdentity := at[0] == "apiVersion" || at[0] == "kind" || len(at) == 1 || at[0] == "metadata" && (at[1] == "name" || at[1] == "namespace")
		if i%3 == 0 && !isIdentity {
			cut(m, at)
		}
	}
	return m
}

// inParts returns fields with what is in them in the place of those of which a part is declared.
func (t *trial) inParts(fields, declared projection.FieldSet, after *unstructured.Unstructured) (projection.FieldSet, error) {
	all, err := projection.Outline(t.before.Object, after.Object)
	for p := range fields.All() {
		if below := declared.Under(p); !below.Empty() {
			fields = fields.Without(projection.NewFieldSet(p)).Union(all.Under(p).Leaves().Difference(declared))
		}
	}
	return fields, err
}

// isSamePlace returns whether a path leads to where p leads in the object as it was: an item has several names if its
// owners recorded it when its list had other keys.
func (t *trial) isSamePlace(p projection.Path) func(projection.Path) bool {
	at, exists := resolve(t.before.Object, p)
	return func(other projection.Path) bool {
		there, found := resolve(t.before.Object, other)
		return exists && found && slices.Equal(at, there)
	}
}

// judgeLeft compares what a plan says of values that were imported and aren't in the manifest with what becomes of
// them.
func (t *trial) judgeLeft(plan *ssaplan.Plan, state *explain.State, after *unstructured.Unstructured) {
	for _, d := range plan.Dropped {
		_, exists := valueAt(after, d.Path)
		t.check(shorter, exists == (d.Fate != fieldowner.FateDeleted), "%s: is there: %t", d, exists)
	}
	whole := plan.After.Fields.Leaves().Difference(emptyIn(plan.After))
	left, err := t.inParts(state.Applied.Fields.Leaves().Difference(plan.After.Fields).Without(whole), plan.After.Fields, after)
	t.check(shorter, err == nil, "%v", err)
	for p := range left.All() {
		_, existed := valueAt(t.before, p)
		if t.object.isRedefined(p) || slices.ContainsFunc(slices.Collect(plan.After.Fields.All()), t.isSamePlace(p)) {
			continue // items are named by the keys of today in a plan
		}
		isTold := slices.ContainsFunc(plan.Dropped, func(d fieldowner.DroppedField) bool {
			return p.HasPrefix(d.Path) || d.Path.HasPrefix(p) || t.isSamePlace(p)(d.Path)
		}) || slices.ContainsFunc(plan.Changes, func(c explain.Change) bool { return p.HasPrefix(c.Path) }) ||
			slices.ContainsFunc(plan.Assigned, p.HasPrefix) // which the manifest leaves to the server
		t.check(shorter, isTold || !existed, "%s was imported and isn't in the manifest, and nothing is told of it: %v", p, plan.Dropped)
	}
	for _, d := range projection.Diff(plan.Baseline, state.Digested(plan.After)) {
		v, exists := valueAt(after, d.Path)
		_, isList := v.([]any)
		stays := exists && isPart(d.Before, v) && (!isList || reflect.DeepEqual(d.Before, v)) // another list is another value
		isShown := d.Op == projection.OpRemove && stays
		t.check(shorter, !isShown, "a host shows that %s goes, which stays: %v", d.Path, plan.Dropped)
	}
}
