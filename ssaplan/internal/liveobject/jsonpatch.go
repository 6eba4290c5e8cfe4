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

// TryByRecord tries a JSON patch of the live object [precondition.ByRecord], and returns its answer, and the object as
// it was in that version: with the record of the live object, and with what others have written meanwhile. It tries
// until it has read the object in the version of an answer, which proves that the dry run hasn't written either.
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
		default: // the server tested that it was the live object's
			t.wrote = precondition.DryRunWrote(made)
			return nil, nil, t.wrote
		}
		if err := pause.Sleep(ctx); err != nil {
			return nil, nil, err
		}
	}
}

// TryContent tries a JSON patch of the content of the live object as [Target.TryByRecord] does, and returns the answer
// without what others have written meanwhile, as if the object still were the live one. That they have written where
// the patch makes a change is an error as if the server had refused it as outdated.
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

// undo gives the fields of a map that others have changed the values of before, but for those named, in the answer to a
// patch of the object of now. It reports false if the answer has another value than either there, or if it isn't known
// whose it is, since the patch sets the field.
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
