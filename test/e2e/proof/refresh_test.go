package proof_test

import (
	"context"
	"reflect"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/internal/kinds"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/projection/foreign"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/explain"
)

// applied is the last apply of a case's object that the server accepted.
type applied struct {
	manifest *unstructured.Unstructured // as the user wrote it
	except   explain.Exceptions
	giveUp   projection.Patterns
	force    bool
}

// applied returns what a trial applied.
func (t *trial) applied() *applied {
	return &applied{manifest: t.manifest, except: t.except, giveUp: t.giveUp, force: t.step.Force}
}

// judgeRefresh compares a refresh with a plan for the manifest that was applied last: the refresh reports drift exactly
// where the plan changes what is declared, and where the plan is a no-op there is nothing to compare.
func (t *trial) judgeRefresh(ctx context.Context) {
	last := t.memory.last
	if last == nil || t.memory.state == nil || t.before == nil || isForgotten(t.before) {
		return
	}
	of := t.object.cluster.of(t.step.By)
	planners := of.refusing
	if last.force {
		planners = of.forcing
	}
	reading, err := planners.tested.Read(ctx, t.memory.state)
	if !t.check(refresh, err == nil, "%v", err) || reading.Presence != ssaplan.PresenceFound {
		return
	}
	plan, err := planners.tested.Plan(ctx, ssaplan.Request{
		Manifest: last.manifest.DeepCopy(), Ignore: last.except.Ignore, Strip: last.except.Strip, Prior: reading.State, Live: reading.Live, Subresource: t.step.Of,
		GiveUp: last.giveUp,
	})
	if err != nil || plan.Action == ssaplan.ActionReplace || plan.Action == ssaplan.ActionDeferred {
		return // the server refuses by now what it accepted then
	}
	if plan.Action == ssaplan.ActionConflict && slices.ContainsFunc(plan.Warnings, isUnforced) {
		return // what the apply would change isn't known
	}
	apart := stampedPlaces(reading.Drift, plan.Changes)
	for _, c := range plan.Changes {
		if t.isEmptied(c) || t.isOfIgnored(c.Path, c.After, c.Before) || t.wasNotSent(c) || t.isDefaultList(c) || t.isNewDefault(c) {
			apart[c.Path.String()] = true
		}
	}
	for _, c := range reading.Drift { // another write made an empty map of null, or of a custom resource took one away that isn't kept
		isTaken := c.Op == projection.OpRemove && isEmptyOrNull(c.Before) && !kinds.IsBuiltin(t.manifest.Object)
		isHollow := c.Before == nil && isEmptyOrNull(c.After) || isTaken
		if isHollow || t.isOfIgnored(c.Path, c.Before, c.After) || t.isDefaultList(c) {
			apart[c.Path.String()] = true
		}
	}
	drift := t.changedPlaces(reading.Drift, apart)
	changes := t.changedPlaces(t.atWholes(plan.Changes, reading.Drift), apart)
	t.check(refresh, slices.Equal(drift, changes), "drift:\n%v\nplan %v:\n%v", reading.Drift, plan, plan.Changes)
	t.judgeBaseline(plan, reading.State)
}

// atWholes returns the changes with the paths of maps and lists that the drift shows as a whole in the place of those
// in them. It does so if another manager declared such a one as empty, which looks as if it had become one whole.
func (t *trial) atWholes(changes, drift []explain.Change) []explain.Change {
	owners, err := fieldowner.Read(t.before.Object)
	t.check(refresh, err == nil, "%v", err)
	others := owners.Fields(func(o fieldowner.Owner) bool { return !t.step.applier().Is(o) })
	out := slices.Clone(changes)
	for _, d := range drift {
		_, wasMap := d.Before.(map[string]any)
		_, isMap := d.After.(map[string]any)
		_, wasList := d.Before.([]any)
		_, isList := d.After.([]any)
		isSameType := wasMap && isMap || wasList && isList
		if !isSameType || !others.Under(d.Path).Equal(projection.NewFieldSet(d.Path)) {
			continue
		}
		for i := range out {
			if out[i].Path.HasPrefix(d.Path) && out[i].Op != projection.OpMove {
				out[i].Path = d.Path
			}
		}
	}
	return out
}

// isForgotten reports whether managedFields were cleared since the object was created. Then nothing shows what became
// of maps that were declared as empty.
func isForgotten(obj *unstructured.Unstructured) bool {
	return len(obj.GetManagedFields()) == 0 || slices.ContainsFunc(obj.GetManagedFields(), func(e metav1.ManagedFieldsEntry) bool {
		return e.Manager == fieldowner.BeforeFirstApply
	})
}

func isUnforced(warning foreign.Text) bool {
	return strings.HasPrefix(string(warning), "unknown what taking over the fields")
}

// judgeBaseline checks that a plan which changes nothing gives a host nothing to show. Prior is the state that the plan
// was made with; its sensitive values are digests.
func (t *trial) judgeBaseline(plan *ssaplan.Plan, prior *explain.State) {
	if plan.Action != ssaplan.ActionNoOp {
		return
	}
	after := plan.After
	if prior != nil {
		after = prior.Digested(after)
	}
	differences := projection.Diff(plan.Baseline, after)
	t.check(refresh, len(differences) == 0, "a no-op, and from baseline to after: %v", differences)
}

// alteredOnCreate are the declared fields, by kind, that an admission plugin of the server changes when an object is
// created, and not when it is updated: applying the manifest again changes what is stored, though nothing has drifted.
// Source: kubernetes/plugin/pkg/admission/nodetaint.
var alteredOnCreate = map[string]string{"Node": "spec.taints"}

// isEmptied reports whether a map that is declared as empty is null, or was already absent after the last apply. The
// server stores null in place of the map when the last field in it is dropped. The next apply of the same manifest
// makes it an empty map.
//
// Another such map is gone because another client wrote the object in a version without it. The next apply removes the
// values with which the server had filled it.
func (t *trial) isEmptied(c explain.Change) bool {
	switch c.Op {
	case projection.OpChange:
		return c.Before == nil && isEmptyOrNull(c.After)
	case projection.OpAdd:
		applied := projection.NewObject(t.memory.state.Applied.Object, t.memory.state.Applied.Fields)
		_, existed := applied.Get(c.Path)
		return !existed && isEmptyOrNull(c.After)
	case projection.OpRemove:
		wanted := valuesAt(t.memory.last.manifest.Object, c.Path)
		return hasOtherVersions(t.before) && len(wanted) == 1 && isEmptyOrNull(wanted[0])
	}
	return false
}

// isDefaultList reports whether a list is the server's default for one that is declared as empty, such as the
// policyTypes of a NetworkPolicy: the default depends on values that others have set since, see docs/limits.md.
func (t *trial) isDefaultList(c explain.Change) bool {
	wanted := valuesAt(t.memory.last.manifest.Object, c.Path)
	if len(wanted) != 1 || !kinds.IsBuiltin(t.before.Object) {
		return false
	}
	list, isList := wanted[0].([]any)
	return isList && len(list) == 0
}

// isOfIgnored reports whether what a list with one owner has more is what the server fills in because of a part that is
// ignored, and that others have set or removed: a refresh doesn't know which values are the server's own.
func (t *trial) isOfIgnored(at projection.Path, less, more any) bool {
	before, wasList := more.([]any)
	after, isList := less.([]any)
	ignored := slices.Concat(t.memory.last.except.Ignore, t.memory.last.giveUp)
	isInside := func(p projection.Pattern) bool { return strings.HasPrefix(p.String(), at.String()+"[") }
	if !wasList || !isList || len(before) != len(after) || !slices.ContainsFunc(ignored, isInside) {
		return false
	}
	for i := range after {
		if !isPart(after[i], before[i]) {
			return false
		}
	}
	return true
}

// wasNotSent reports whether a change is that of a field of which nothing was applied: the manifest has null there, or
// nothing but what is left to others, and the object had none then. The same manifest sends it once others have made
// one, and takes it over. A refresh compares only fields that were applied; see [explain.Refreshed].
func (t *trial) wasNotSent(c explain.Change) bool {
	last := t.memory.last
	rest, removed := slices.Concat(last.except.Ignore, last.giveUp).Strip(last.manifest.Object)
	isInside := func(p projection.Path) bool { return len(p) > len(c.Path) && p.HasPrefix(c.Path) }
	isLeft := slices.ContainsFunc(removed, isInside) && len(valuesAt(rest, c.Path)) == 0
	value, isWritten := valueAt(last.manifest, c.Path)
	return (isLeft || isWritten && value == nil) &&
		t.memory.state.Applied.Fields.Under(c.Path).Empty()
}

// isNewDefault reports whether a change is that of a null to which the definition gives another default by now, while
// the object has the one that was applied. A refresh doesn't read the definition.
func (t *trial) isNewDefault(c explain.Change) bool {
	value, isWritten := valueAt(t.memory.last.manifest, c.Path)
	applied := valuesAt(t.memory.state.Applied.Object, c.Path)
	return t.object.isRevised() && isWritten && value == nil && len(applied) == 1 && reflect.DeepEqual(applied[0], c.Before)
}

// stampedPlaces returns where a webhook of the proof overwrote a value, or put something into it, at one apply and not
// at the other.
func stampedPlaces(lists ...[]explain.Change) map[string]bool {
	out := map[string]bool{}
	marks := []string{`"stamped"`, `"sidecar:1"`, `"privileged":true`}
	for _, c := range slices.Concat(lists...) {
		isMarked := slices.ContainsFunc(marks, func(mark string) bool {
			return strings.Contains(shown(c.Before), mark) != strings.Contains(shown(c.After), mark)
		})
		isReplicas := c.Path.String() == "spec.replicas" && (c.Before == stampedReplicas || c.After == stampedReplicas)
		if isMarked || isReplicas {
			out[c.Path.String()] = true
		}
	}
	return out
}

// changedPlaces returns the fields that change, except side effects and the fields in apart. If two items change
// places, the direction of the comparison decides which one moves. So a move counts as a change of its list.
func (t *trial) changedPlaces(changes []explain.Change, apart map[string]bool) []string {
	var out []string
	for _, c := range changes {
		switch {
		case c.Cause == explain.CauseSideEffect, apart[c.Path.String()], c.Path.String() == alteredOnCreate[t.object.gvk.Kind],
			t.object.isRedefined(c.Path):
		case c.Op == projection.OpMove:
			out = append(out, c.Path[:len(c.Path)-1].String()+" order")
		default:
			out = append(out, c.Path.String())
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
