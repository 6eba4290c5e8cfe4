package proof_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/internal/kinds"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/projection/foreign"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/explain"
	"github.com/ssaplan/primitives/ssaplan/release"
)

// nobodyOwns is what is said of a plan after which no field would have an owner.
const nobodyOwns = "no manager would own a field"

// carryOut does the apply. Of a plan by which fields change owners, or are cleared, it lets the Planner do it, since no
// dry run does that and applies; the Planner plans again in between, and stops if that says anything else. It reports
// whether that is all there is to judge.
func (t *trial) carryOut(ctx context.Context) (isJudged bool, err error) {
	handover, err := t.handover()
	switch {
	case err != nil:
		return false, err
	case t.before == nil && t.planErr != nil && strings.Contains(t.planErr.Error(), nobodyOwns):
		t.over, t.outcome = true, "error "+nobodyOwns
		return true, nil
	case t.before == nil && len(t.giveUp) > 0 && t.planIs(ssaplan.ActionCreate):
		t.dryRun = t.plan.Result()
		if t.after, err = t.planners().tested.Apply(ctx, t.plan); t.check(handovers, err == nil, "planned %v, and then %v", t.plan, err) {
			lines := differences(withoutBookkeeping(t.plannedNew().Object), withoutBookkeeping(t.after.Object), nil)
			t.hookedTwice = hasHook(t.manifest) && areOfHooks(lines)
			t.check(handovers, len(lines) == 0 || t.hookedTwice, "planned, and real: %v", lines)
			if t.refillsDefaults() {
				t.dryRun = nil
			}
		}
		return err != nil, nil
	case t.refusesClearing(ctx):
		return true, t.judgeRefusedClearing(ctx)
	case handover.Empty() && !t.takesAway():
		t.dryRun, _ = t.object.apply(ctx, t.wire, t.step, metav1.DryRunAll)
		t.after, t.applyErr = t.object.apply(ctx, t.wire, t.step)
		return false, nil
	case hasOtherVersions(t.before) && !kinds.IsBuiltin(t.manifest.Object) && len(t.step.LostVersions) == 0:
		t.over, t.outcome = true, "not handed over between versions that nothing converts"
		return true, nil // the write by which fields change owners fills in what the version at hand has by default
	case !t.planIs(ssaplan.ActionNoOp, ssaplan.ActionUpdate):
		return t.judgeRefusedHandover(ctx, handover)
	}
	t.dryRun = t.plan.Result()
	t.after, err = t.planners().tested.Apply(ctx, t.plan)
	var changed *ssaplan.ChangedError
	isChanged := errors.As(err, &changed)
	if t.isHPAOfTwoVersions() && (isChanged || apierrors.IsInvalid(err)) {
		t.over, t.outcome = true, "handed over, and another version has required fields as zero" // see docs/limits.md
		return true, nil
	}
	if isChanged && t.isHooked() {
		now, failed := t.object.get(ctx, t.manifest)
		if failed != nil {
			return true, failed
		}
		isDone := func(c explain.Change) bool {
			is, exists := valueAt(now, c.Path)
			return c.Op == projection.OpChange && exists && reflect.DeepEqual(is, c.After)
		}
		planned := withoutSideEffects(slices.DeleteFunc(slices.Clone(t.plan.Changes), isDone))
		t.check(handovers, slices.Equal(planned, withoutSideEffects(changed.Plan.Changes)), "planned %v, and then %v", t.plan.Changes, changed.Plan.Changes)
		t.check(handovers, !reflect.DeepEqual(withoutBookkeeping(t.before.Object), withoutBookkeeping(now.Object)),
			"admission changed nothing when fields changed owners, and then %v", err)
		t.over, t.outcome = true, "handed over, and admission changed something then"
		return true, nil
	}
	const null = `in body must be of type object: "null"`
	if err != nil && !kinds.IsBuiltin(t.manifest.Object) && strings.Contains(err.Error(), null) {
		t.over, t.outcome = true, "handed over, and the server refuses the null that it makes itself" // see docs/limits.md
		return true, nil
	}
	if t.isDeniedForNull(err) {
		t.over, t.outcome = true, "handed over, and a policy fails by the null that the server makes" // see docs/limits.md
		return true, nil
	}
	if isChanged {
		lines := append(differences(liveObject(t.dryRun), liveObject(changed.Plan.Result()), nil), toldOtherwise(t.plan, changed.Plan)...)
		err = fmt.Errorf("%w: %v\n%v", err, changed.Plan.Changes, lines)
	}
	if !t.check(handovers, err == nil, "planned %v %v, and then %v", t.plan, t.plan.Changes, err) {
		t.over, t.outcome = true, "handed over, and not applied"
		return true, nil
	}
	t.handedOver = !handover.Empty() || t.clears()
	t.judgeHands()
	t.judgeCleared()
	return false, nil
}

// isDeniedForNull reports whether the policy of the tests, which looks into the annotations, refused an apply that
// takes the last annotation of a custom resource. In that apply it finds null there, and nothing in the update that was
// tried.
func (t *trial) isDeniedForNull(err error) bool {
	return err != nil && strings.Contains(err.Error(), "'proof-deny'") && !kinds.IsBuiltin(t.manifest.Object) &&
		t.before.GetAnnotations() != nil && t.dryRun.GetAnnotations() == nil
}

// plannedNew returns a new object as it was planned, with what only the server knew: what it picked, and who the object
// is since when.
func (t *trial) plannedNew() *unstructured.Unstructured {
	planned := t.withPicked(t.plan, t.after)
	uid, madeUp := string(t.after.GetUID()), string(planned.GetUID())
	text := strings.ReplaceAll(shown(planned.Object), madeUp, uid) // a Job's labels have it
	t.check(handovers, planned.UnmarshalJSON([]byte(text)) == nil, "no object: %s", text)
	planned.SetCreationTimestamp(t.after.GetCreationTimestamp())
	return planned
}

// isHPAOfTwoVersions reports whether some fields are recorded in another version that the server converts. It drops
// fields in the version in which they are recorded, and in another one keeps those that are never absent there. Source:
// addBackOwnedItemsForVersion in sigs.k8s.io/structured-merge-diff/v6/merge.
func (t *trial) isHPAOfTwoVersions() bool {
	return t.manifest.GetKind() == "HorizontalPodAutoscaler" && hasOtherVersions(t.before)
}

// isHooked reports whether webhooks and policies change the object at each write of it.
func (t *trial) isHooked() bool { return hasHook(t.before) }

// areOfHooks reports whether the differences are what a webhook adds to containers that it finds, and that a DaemonSet
// counts the changes of its template.
func areOfHooks(differences []string) bool {
	var hooked, counted int
	for _, line := range differences {
		switch {
		case strings.Contains(line, "/securityContext"):
			hooked++
		case strings.HasPrefix(line, "/metadata/annotations/deprecated.daemonset.template.generation:"):
			counted++
		}
	}
	return hooked > 0 && hooked+counted == len(differences)
}

func hasHook(obj *unstructured.Unstructured) bool {
	return slices.ContainsFunc(hooks, func(hook string) bool { return obj.GetLabels()[hook] != "" })
}

// withoutSideEffects returns the values that change, without what admission does beside that. What is cleared is
// dropped once fields have changed owners, and empty maps are shown beside what was in them.
func withoutSideEffects(changes []explain.Change) (values []string) {
	for _, c := range changes {
		if c.Cause == explain.CauseSideEffect || c.Op == projection.OpRemove && isEmpty(c.Before) {
			continue
		}
		values = append(values, fmt.Sprintf("%s %s: %s -> %s", c.Op, c.Path, shown(c.Before), shown(c.After)))
	}
	return values
}

// handover returns what the step has change owners of an object that is there.
func (t *trial) handover() (fieldowner.Handover, error) {
	if t.before == nil || !t.step.handsOver() {
		return fieldowner.Handover{}, nil
	}
	ours, giveUp := t.step.applier(), t.givenUp()
	return fieldowner.HandOver(t.before.Object, func(e fieldowner.Entry) fieldowner.Entry {
		if t.takesFrom(e.Owner) {
			e.Manager, e.Operation = foreign.Text(ours.Manager), fieldowner.OperationApply
		}
		if slices.Contains(t.step.LostVersions, string(e.APIVersion)) {
			e.APIVersion = foreign.Text(t.before.GetAPIVersion())
		}
		if ours.Is(e.Owner) {
			kept, given := giveUp.Split(e.Fields)
			e.Fields = withoutEmptied(kept, given)
		}
		return e
	})
}

// withoutEmptied returns the fields without the maps and lists of which nothing else is left when fields are given up.
func withoutEmptied(kept, given projection.FieldSet) projection.FieldSet {
	for _, p := range slices.Backward(slices.Collect(kept.Above(given).All())) {
		if p[len(p)-1].Kind() == projection.FieldKind && kept.Under(p).Len() == 1 {
			kept = kept.Difference(projection.NewFieldSet(p))
		}
	}
	return kept
}

// refillsDefaults reports whether the second write of a create, which gives fields up, is recorded with defaults of its
// version: the version that is stored lacks them, so that each write adds them.
func (t *trial) refillsDefaults() bool {
	real, err := fieldowner.Read(t.after.Object)
	t.check(owners, err == nil, "%v", err)
	others := real.Fields(func(o fieldowner.Owner) bool { return !t.step.applier().Is(o) })
	for p := range others.All() {
		if _, isWritten := valueAt(t.manifest, p); isWritten {
			return false
		}
	}
	return !isStored(t.manifest) && !others.Empty()
}

// isStored reports whether the server stores the object in its version, as far as a test needs to know: custom
// resources are stored in v1.
func isStored(obj *unstructured.Unstructured) bool {
	return kinds.IsBuiltin(obj.Object) || obj.GroupVersionKind().Version == "v1"
}

// givenUp returns the patterns of what is given up with positions in the manifest replaced by the names that the record
// of the object has for these items.
func (t *trial) givenUp() projection.Patterns {
	owners, err := fieldowner.Read(t.before.Object)
	t.check(handovers, err == nil, "%v", err)
	return t.giveUp.Named(t.manifest.Object, owners.Fields(nil))
}

// judgeRefusedHandover has a bare client do what can't be planned, and looks whether the server refuses it as well. The
// record then differs from what a host remembers.
func (t *trial) judgeRefusedHandover(ctx context.Context, handover fieldowner.Handover) (isJudged bool, err error) {
	t.over = true
	if t.planErr != nil && strings.Contains(t.planErr.Error(), nobodyOwns) {
		t.outcome = "error " + nobodyOwns
		return true, nil
	}
	patch, err := handover.Patch()
	if err != nil {
		return true, err
	}
	resource, err := t.object.resource(t.manifest.GroupVersionKind())
	if err != nil {
		return true, err
	}
	options := metav1.PatchOptions{FieldManager: t.step.By}
	if _, t.applyErr = resource.Patch(ctx, t.object.name, types.JSONPatchType, patch, options); t.applyErr == nil {
		t.after, t.applyErr = t.object.apply(ctx, t.wire, t.step)
	}
	if t.planIs(ssaplan.ActionConflict) {
		return false, nil // which is judged as ever
	}
	const twice = ": duplicate entries for key " // since other fields were the keys of the list once; see docs/limits.md
	if len(t.step.LostVersions) > 0 && t.planErr != nil && strings.Contains(t.planErr.Error(), twice) {
		t.outcome = "error items of one name are in the list"
		return true, nil
	}
	t.outcome = "refused, and so is what hands over and applies"
	if t.applyErr == nil && t.isHPAOfTwoVersions() {
		t.outcome = "error, and another version has required fields as zero" // see docs/limits.md
		return true, nil
	}
	if t.applyErr == nil && t.planErr != nil && strings.Contains(t.planErr.Error(), "a new object would be invalid, too") {
		t.outcome = "error, and nothing can be tried" // see docs/limits.md
		return true, nil
	}
	t.check(handovers, t.applyErr != nil, "planned %v %v, and in reality it is applied", t.plan, t.planErr)
	return true, nil
}

// takesFrom reports whether the step adopts what the owner has. What an owner wrote to a subresource stays its own.
func (t *trial) takesFrom(o fieldowner.Owner) bool {
	return o.Subresource == "" && !t.step.applier().Is(o) && slices.Contains(t.step.Adopt, string(o.Manager))
}

// judgeHands checks the owners after a handover. The adopted managers own nothing of the object itself. No given-up
// field is ours, and its value is unchanged unless the plan shows a change. The object is the predicted one.
func (t *trial) judgeHands() {
	before, err := fieldowner.Read(t.before.Object)
	t.check(handovers, err == nil, "%v", err)
	after, err := fieldowner.Read(t.after.Object)
	t.check(handovers, err == nil, "%v", err)
	left := after.Fields(t.takesFrom)
	t.check(handovers, left.Empty(), "of who was adopted from stays: %s", left)
	_, given := t.givenUp().Split(before.Fields(t.step.applier().Is).Union(before.Fields(t.takesFrom)))
	own := after.Fields(t.step.applier().Is)
	for p := range given.Leaves().All() {
		was, existed := valueAt(t.before, p)
		is, exists := valueAt(t.after, p)
		isTold := slices.ContainsFunc(t.plan.Changes, func(c explain.Change) bool { return p.HasPrefix(c.Path) || c.Path.HasPrefix(p) })
		t.check(handovers, own.Under(p).Empty(), "given up, and still ours: %s", p)
		t.check(handovers, isTold || existed == exists && reflect.DeepEqual(was, is), "given up: %s was %v, and is %v", p, was, is)
	}
	lines := differences(withoutBookkeeping(t.withPicked(t.plan, t.after).Object), withoutBookkeeping(t.after.Object), nil)
	t.check(handovers, len(lines) == 0, "foretold, and real: %v", lines)
}

// withPicked returns the object that a plan predicts, with the values that the server picked. These are the values that
// the plan marks as assigned. In a new object they are also the addresses and ports that the manifest doesn't declare.
func (t *trial) withPicked(plan *ssaplan.Plan, made *unstructured.Unstructured) *unstructured.Unstructured {
	foretold := plan.Result()
	owners, err := fieldowner.Read(made.Object)
	t.check(handovers, err == nil, "%v", err)
	obj := projection.NewObject(foretold.Object, owners.Fields(nil))
	for _, c := range plan.Changes {
		if v, exists := valueAt(made, c.Path); c.Assigned && exists {
			t.check(handovers, obj.Set(c.Path, v) == nil, "%s isn't where the server picked a value", c.Path)
		}
	}
	for _, at := range pickedPlaces(foretold.Object) {
		_, declared := lookup(t.wire.Object, at)
		if v, exists := lookup(made.Object, at); (t.before == nil || t.replaced) && !declared && exists {
			put(foretold.Object, at, v)
		}
	}
	return foretold
}

// runRelease lets go of the object, and looks at what the record and the object are then.
func (t *trial) runRelease(ctx context.Context) (err error) {
	t.manifest = t.object.manifest(Step{Body: map[string]any{}})
	t.manifest.SetGroupVersionKind(t.object.gvk)
	if t.memory = t.object.remembered(""); t.memory.state == nil {
		t.outcome = "nothing to release"
		return nil
	}
	t.manifest.SetAPIVersion(t.memory.state.Identity.APIVersion) // which says what of the record is one whole
	if t.before, err = t.object.get(ctx, t.manifest); err != nil {
		return err
	}
	planner := t.planners().tested
	plan, err := planner.PlanRelease(ctx, t.memory.state)
	if !t.check(releases, err == nil, "%v", err) {
		return nil
	}
	t.outcome = "Release " + string(plan.Action)
	between, err := t.object.get(ctx, t.manifest)
	if err != nil {
		return err
	}
	t.check(harmless, reflect.DeepEqual(t.before, between), "the object changed:\n%v\n%v", t.before, between)
	failed := plan.Apply(ctx)
	if t.after, err = t.object.get(ctx, t.manifest); err != nil {
		return err
	}
	t.object.memory = map[string]*memory{}
	if plan.Action == release.ActionRefused {
		return t.judgeKept(ctx, plan, failed)
	}
	t.judgeRelease(plan, failed)
	return nil
}

// judgeKept judges a release that isn't sent, since the server would leave the record as it is: nothing was sent, and
// sent all the same it gives nothing up.
func (t *trial) judgeKept(ctx context.Context, plan *release.Plan, failed error) error {
	t.check(releases, errors.Is(failed, plan.Refusal) && reflect.DeepEqual(t.before, t.after), "planned %v, and then %v and %v", plan, failed, t.after)
	released, err := fieldowner.Release(t.before.Object, t.step.By)
	if err != nil {
		return err
	}
	patch, err := released.Patch()
	if err != nil {
		return err
	}
	resource, err := t.object.resource(t.manifest.GroupVersionKind())
	if err != nil {
		return err
	}
	made, err := resource.Patch(ctx, t.object.name, types.JSONPatchType, patch, metav1.PatchOptions{FieldManager: t.step.By})
	if err != nil {
		return err
	}
	before, err := fieldowner.Read(t.before.Object)
	t.check(releases, err == nil, "%v", err)
	after, err := fieldowner.Read(made.Object)
	t.check(releases, err == nil && after.Equal(before), "planned %v, and the server does it: %v %v", plan, err, after.Entries())
	return nil
}

func (t *trial) judgeRelease(plan *release.Plan, failed error) {
	if !t.check(releases, failed == nil, "planned %v, and then %v", plan, failed) || t.before == nil {
		return
	}
	before, err := fieldowner.Read(t.before.Object)
	t.check(releases, err == nil, "%v", err)
	after, err := fieldowner.Read(t.after.Object)
	t.check(releases, err == nil, "%v", err)
	had, has := before.Fields(fieldowner.By(t.step.By)), after.Fields(fieldowner.By(t.step.By))
	t.check(releases, has.Empty(), "still ours: %s; the record is %v", has, t.after.GetManagedFields())
	isAnother := t.memory.state.UID != string(t.before.GetUID())
	t.check(releases, isAnother == (plan.Action == release.ActionGone), "planned %v, and another object is there: %t", plan, isAnother)
	t.check(releases, isAnother || had.Empty() == (plan.Action == release.ActionNothing), "planned %v, and of %s", plan, had)
	var told, lost []projection.Path
	for _, f := range plan.Fields {
		if f.Kind == fieldowner.TransferDisowned {
			lost = append(lost, f.Path)
			continue
		}
		told = append(told, f.Path)
		for _, o := range f.Owners {
			t.check(releases, slices.ContainsFunc(after.Of(f.Path), o.Is), "%s: %v has it still, in reality %v", f.Path, o, after.Of(f.Path))
		}
		t.check(releases, len(f.Owners) > 0 || !after.Fields(nil).Has(f.Path), "%s: nobody's, in reality %v", f.Path, after.Of(f.Path))
	}
	t.check(releases, had.Leaves().Equal(projection.NewFieldSet(told...)), "planned %v, and given up is %s", plan, had)
	others := func(o fieldowner.Owner) bool { return !fieldowner.By(t.step.By)(o) }
	theirs, left := before.Fields(others), after.Fields(others)
	gone := theirs.Leaves().Difference(left)
	isTold := len(lost) > 0 && gone.Equal(projection.NewFieldSet(lost...)) && left.Difference(theirs).Empty()
	isSame := theirs.Equal(left) || isTold || len(t.object.redefined) > 0 // which a write brings into the record
	t.check(releases, isSame, "others own %s, and then %s, planned %v", theirs, left, plan)
	for _, c := range plan.Changes {
		is, _ := valueAt(t.after, c.Path)
		t.check(releases, c.Sensitive || reflect.DeepEqual(is, c.After), "%s: in reality %v", c, is)
	}
	lines := unlistedChanges(t.before.Object, t.after.Object, plan.Changes, nil)
	t.check(releases, len(lines) == 0, "planned %v, and it changed: %v", plan, lines)
}

// adoptable are one or a few managers of the cases.
func (g *generator) adoptable() (names []string) {
	all := []string{"ann", "creator", fieldowner.ClientSideApply, "bob", "patcher", "remover", "jsonpatcher", manager}
	for range 1 + g.IntN(3) {
		if name := pick(g, all...); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// patternOf names one of the manifest's fields, with items of lists by what names them, or something that many kinds
// have.
func (g *generator) patternOf(m map[string]any) string {
	if at := g.field(m); at != nil && !g.chance(40) {
		return g.patternAt(m, at)
	}
	return pick(g, ignorable...)
}
