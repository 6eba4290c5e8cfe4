package set

import (
	"fmt"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/projection/foreign"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/explain"
	"github.com/ssaplan/primitives/ssaplan/write"
)

// ChangedError says that after the earlier stages, the plan for an object is another one than was shown. The object
// wasn't written.
type ChangedError struct {
	// Shown is the shown plan, and Now the plan that would be applied instead. If Shown changes nothing, it only has
	// the object and the action.
	Shown, Now *ssaplan.Plan
}

func (e *ChangedError) Error() string {
	return fmt.Sprintf("%s: the plan changed since it was shown; now %s (%s): review the new plan", e.Now.Object,
		e.Now.Action, foreign.Text(e.Now.Reason))
}

// WriteOutcome is used by [write.OutcomeOf].
func (e *ChangedError) WriteOutcome() write.Outcome { return write.OutcomeNotSent }

// isAsShown reports whether a plan does only what was shown of an object, so that the review of the shown plan covers
// it.
func (s *Set) isAsShown(item *Item, now *ssaplan.Plan) bool {
	shown := item.Plan
	switch {
	case now.Action == ssaplan.ActionNoOp:
		return true // it does nothing
	case shown.Action == ssaplan.ActionDeferred:
		return fulfils(now, item)
	case shown.Object != now.Object:
		return false
	case shown.Action == ssaplan.ActionReplace && now.Action == ssaplan.ActionUpdate:
		return s.options.Replace && isPartOf(shown, now)
	case shown.Action != now.Action:
		return false
	}
	if number, ok := s.contents.Serves(now.Object); ok && s.items[number].changes() && replacesAsShown(shown, now) {
		return true
	}
	return doesAsShown(shown, now) && shown.Replacement.Covers(now.Replacement)
}

// isPartOf reports whether an update does no more than the shown replacement of the same object. The values become
// those of the replacement, but the object stays, with the fields of others.
func isPartOf(shown, now *ssaplan.Plan) bool {
	if shown.Replacement.Old != now.Object || now.Live() == nil ||
		string(now.Live().GetUID()) != shown.Replacement.UID {
		return false
	}
	return !slices.ContainsFunc(now.Changes, func(change explain.Change) bool {
		return !slices.ContainsFunc(shown.Changes, func(c explain.Change) bool { return doesSame(c, change) })
	})
}

// replacesAsShown reports whether a plan deletes the same object and creates the same object as the shown replacement.
// A new CRD may have changed which fields require the replacement, and the description of their changes.
func replacesAsShown(shown, now *ssaplan.Plan) bool {
	if shown.Replacement == nil || now.Replacement == nil || shown.Result() == nil || now.Result() == nil {
		return false
	}
	reviewed := *shown.Replacement
	reviewed.Fields = now.Replacement.Fields
	return reviewed.Covers(now.Replacement) && reflect.DeepEqual(contentOf(shown.Live()), contentOf(now.Live())) &&
		reflect.DeepEqual(declaredIn(shown), declaredIn(now))
}

// declaredIn returns the object that a replacement creates, without the values that the server generates.
func declaredIn(plan *ssaplan.Plan) map[string]any {
	made := contentOf(plan.Result())
	for _, name := range []string{"creationTimestamp", "uid"} {
		unstructured.RemoveNestedField(made, "metadata", name)
	}
	return made
}

// doesAsShown reports whether a plan does to its object what was shown, or the part of it that is left to do. An
// earlier object may have done the rest, such as a CRD that drops a field. If a CRD changes the keys of a list, the
// same changes have other paths: then the objects before and after the change are compared.
func doesAsShown(shown, now *ssaplan.Plan) bool {
	switch {
	case now.Explanation.Same(&shown.Explanation), now.Action == ssaplan.ActionUpdate &&
		now.Explanation.Within(&shown.Explanation):
		return true
	case now.Action != ssaplan.ActionUpdate || !losersAreKnown(shown, now):
		return false
	}
	return reflect.DeepEqual(contentOf(shown.Live()), contentOf(now.Live())) &&
		reflect.DeepEqual(contentOf(shown.Result()), contentOf(now.Result()))
}

// losersAreKnown reports whether each owner that loses a field was also shown to lose one.
func losersAreKnown(shown, now *ssaplan.Plan) bool {
	known := func(owner fieldowner.Owner) bool {
		return slices.ContainsFunc(shown.Ownership,
			func(t fieldowner.Transfer) bool { return slices.ContainsFunc(t.Owners, owner.Is) })
	}
	return !slices.ContainsFunc(now.Ownership, func(t fieldowner.Transfer) bool {
		return slices.ContainsFunc(t.Owners, func(owner fieldowner.Owner) bool { return !known(owner) })
	})
}

// contentOf returns an object without the metadata that every write changes.
func contentOf(obj *unstructured.Unstructured) map[string]any {
	if obj == nil {
		return nil
	}
	for _, name := range []string{"generation", "managedFields", "resourceVersion"} {
		unstructured.RemoveNestedField(obj.Object, "metadata", name)
	}
	return obj.Object
}

// fulfils reports whether a plan does what was shown of an object that the server couldn't check. It creates what the
// manifest declares, or it only makes shown changes and changes in fields that were shown as unknown.
func fulfils(now *ssaplan.Plan, item *Item) bool {
	switch now.Action {
	case ssaplan.ActionCreate, ssaplan.ActionDeferred:
		return true
	case ssaplan.ActionUpdate:
	default:
		return false
	}
	return !slices.ContainsFunc(now.Changes, func(change explain.Change) bool {
		isConverted := item.isConverted && change.Cause == explain.CauseSideEffect
		// A change of a dropped field counts as shown: the reviewed manifest doesn't declare the field.
		return change.Cause != explain.CauseDropped && !isConverted && !showed(item.Plan, change) &&
			!isDefault(item.Plan, change)
	})
}

// unshown returns the changes of an update that were not shown, because the server couldn't check the object then.
func unshown(item *Item, now *ssaplan.Plan) (changes []explain.Change) {
	if item == nil || item.Plan == nil || item.Plan.Action != ssaplan.ActionDeferred ||
		now.Action != ssaplan.ActionUpdate {
		return nil
	}
	after := projection.NewObject(item.Plan.After.Object, item.Plan.After.Fields)
	for _, change := range now.Changes {
		v, isDeclared := after.Get(change.Path)
		isDeclared = isDeclared && change.Op != projection.OpRemove && reflect.DeepEqual(v, change.After)
		if !isDeclared && !slices.ContainsFunc(item.Plan.Changes,
			func(c explain.Change) bool { return doesSame(c, change) }) {
			changes = append(changes, change)
		}
	}
	return changes
}

// showed reports whether a deferred plan showed a change, either as a change or as a value of the manifest.
func showed(shown *ssaplan.Plan, change explain.Change) bool {
	if slices.ContainsFunc(shown.Changes, func(c explain.Change) bool { return doesSame(c, change) }) ||
		slices.ContainsFunc(shown.Unknown, func(path projection.Path) bool { return change.Path.HasPrefix(path) }) {
		return true
	}
	return change.Op != projection.OpRemove && len(shown.Unknown) == 0 &&
		shown.After.Fields.Leaves().Covers(change.Path) && isFrom(shown, change)
}

// isDefault reports whether a change counts as a default: the server adds a value inside a new part of the object,
// and the manifest adds that part. Defaults weren't known before the CRD of that part was served.
func isDefault(shown *ssaplan.Plan, change explain.Change) bool {
	live := shown.Live()
	if live == nil || change.Cause != explain.CauseSideEffect || change.Op != projection.OpAdd {
		return false
	}
	before := projection.NewObject(live.Object, shown.After.Fields)
	after := projection.NewObject(shown.After.Object, shown.After.Fields)
	for n := 1; n < len(change.Path); n++ {
		_, existed := before.Get(change.Path[:n])
		if _, isAdded := after.Get(change.Path[:n]); isAdded && !existed {
			return true
		}
	}
	return false
}

// isFrom reports whether a change begins with the value that the live object had in the shown plan. Then the value
// didn't change since.
func isFrom(shown *ssaplan.Plan, change explain.Change) bool {
	if shown.Live() == nil {
		return true
	}
	was, existed := projection.NewObject(shown.Live().Object, shown.After.Fields).Get(change.Path)
	return existed == (change.Op != projection.OpAdd) && (!existed || reflect.DeepEqual(was, change.Before))
}

// doesSame reports whether two changes do the same, even if they have other causes and managers.
func doesSame(a, b explain.Change) bool {
	a.Refused = b.Refused
	a.Cause, a.Manager, a.Operation, a.Subresource, a.Time = b.Cause, b.Manager, b.Operation, b.Subresource, b.Time
	return a.Same(b)
}
