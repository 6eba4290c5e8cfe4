package liveobject

import (
	"context"
	"maps"
	"reflect"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/internal/clock"
	"github.com/ssaplan/primitives/internal/managedfields"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/ssaplan/internal/precondition"
)

// TryByRecord tries a JSON patch that the managedFields of the live object guard; see [precondition.ByRecord]. made is
// the answer, and now is the object in the version of the answer. now has the managedFields of the live object, and may
// have new values of others. TryByRecord repeats the dry run until it has read the object in the version of an answer.
// That proves that the dry run didn't write.
func (t *Target) TryByRecord(ctx context.Context, live *unstructured.Unstructured, patch []byte, manager string) (
	now, made *unstructured.Unstructured, err error) {
	if patch, err = precondition.ByRecord(live, patch, projection.FieldSet{}); err != nil {
		return nil, nil, err
	}
	options := metav1.PatchOptions{FieldManager: manager, DryRun: []string{metav1.DryRunAll}}
	pause := clock.Backoff{Next: time.Millisecond, Longest: 50 * time.Millisecond}
	for {
		now, made, err = t.beside(ctx, func() (*unstructured.Unstructured, error) {
			obj, err := t.Resource.JSONPatch(ctx, t.Identity.Name, patch, options)
			if obj, err = answered(t.Identity, obj,
				precondition.AsOutdated(err, patch, t.GroupResource(), t.Identity.Name)); err == nil {
				err = precondition.Tried(live, obj)
			}
			return obj, err
		})
		switch {
		case err != nil:
			return nil, nil, err
		case now == nil || now.GetUID() != live.GetUID():
			return nil, nil, precondition.Outdated(t.GroupResource(), t.Identity.Name)
		case now.GetResourceVersion() != made.GetResourceVersion():
		case reflect.DeepEqual(managedfields.Of(now.Object), managedfields.Of(live.Object)):
			return now, made, nil
		default: // the server tested that the object had the live object's managedFields
			t.wrote = precondition.DryRunWrote(made)
			return nil, nil, t.wrote
		}
		if err := pause.Sleep(ctx); err != nil {
			return nil, nil, err
		}
	}
}

// TryContent tries a JSON patch of the content of the live object as [Target.TryByRecord] does, and returns the answer
// without what others have written meanwhile, as if the object still were the live one. If others have written a field
// that the patch changes, the error is that of an outdated request.
func (t *Target) TryContent(ctx context.Context, live *unstructured.Unstructured, patch []byte, manager string) (
	*unstructured.Unstructured, error) {
	now, made, err := t.TryByRecord(ctx, live, patch, manager)
	if err != nil || made.GetResourceVersion() == live.GetResourceVersion() {
		return made, err
	}
	out := made.DeepCopy()
	isSet := func(path string) bool { return slices.Contains(precondition.Paths(patch), path) }
	ok := undo(live.Object, now.Object, out.Object, "", isSet, "metadata")
	metadata := func(obj *unstructured.Unstructured) map[string]any {
		m, _ := obj.Object["metadata"].(map[string]any)
		return m
	}
	if !ok || !undo(metadata(live), metadata(now), metadata(out), "/metadata", isSet, "managedFields",
		"resourceVersion", "generation") {
		return nil, precondition.Outdated(t.GroupResource(), t.Identity.Name)
	}
	out.SetResourceVersion(live.GetResourceVersion())
	if generation := live.GetGeneration() + made.GetGeneration() - now.GetGeneration(); generation != 0 {
		out.SetGeneration(generation)
	}
	return out, nil
}

// undo restores the fields of a map that others have changed, except for the fields that but names. was and now are the
// map before and after these changes, and made is the map in the answer to a patch of now. It returns false if a
// changed field has neither of the two values in the answer. It also returns false for a changed value that the patch
// sets: the value may come from the patch or from others.
func undo(was, now, made map[string]any, at string, isSet func(path string) bool, but ...string) bool {
	for name := range merged(was, now) {
		if slices.Contains(but, name) {
			continue
		}
		value, ok := undone(was[name], now[name], made[name], isSet(at+"/"+name))
		if !ok {
			return false
		}
		if made[name] = value; value == nil {
			delete(made, name)
		}
	}
	return true
}

// undone returns the value of the answer without the change from was to now; nil is the value of what isn't there.
func undone(was, now, made any, set bool) (any, bool) {
	before, isMap := was.(map[string]any)
	after, isToo := now.(map[string]any)
	out, isStill := made.(map[string]any)
	switch {
	case reflect.DeepEqual(was, now) || reflect.DeepEqual(made, was):
		return made, true
	case isMap && isToo && isStill:
		out = maps.Clone(out)
		ok := undo(before, after, out, "", func(string) bool { return set })
		return out, ok
	}
	return was, !set && reflect.DeepEqual(made, now)
}
