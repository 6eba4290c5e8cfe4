package wire

import (
	"bytes"
	"context"
	"maps"
	"reflect"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/internal/clock"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/ssaplan/internal/precondition"
)

// beside sends a dry run, and reads the object at the same time. Of an object that others write all the time, a read
// before or after a dry run is nearly always of another version; one that is under way at the same moment mostly isn't.
func (t *Target) beside(ctx context.Context, try func() (*unstructured.Unstructured, error)) (
	now, answer *unstructured.Unstructured, err error) {
	reader := *t
	reader.Resource = t.server.Resource(t.kind, t.object) // t isn't for concurrent use
	var failed error
	read := make(chan struct{})
	besides, release := withHeld(ctx)
	go func() {
		defer close(read)
		now, failed = reader.Live(besides)
	}()
	answer, err = try()
	<-read
	release()
	*t.requests += reader.Requests()
	if err == nil {
		err = failed
	}
	return now, answer, err
}

// Pair is a dry run of an apply, and a read of the object at the same time. The zero value is of none.
type Pair struct {
	Now, Answer *unstructured.Unstructured
	body        []byte
	force       bool
}

// IsExact reports whether both are of the same version.
func (p *Pair) IsExact() bool {
	return p.Now != nil && p.Answer != nil && p.Now.GetResourceVersion() == p.Answer.GetResourceVersion()
}

// Try is [Target.Try] with a read at the same time. It doesn't ask again what it knows of the live object.
func (p *Pair) Try(ctx context.Context, target *Target, live *unstructured.Unstructured, body []byte,
	options metav1.PatchOptions) (*unstructured.Unstructured, error) {
	force := options.Force != nil && *options.Force
	if p.IsExact() && p.Now == live && p.force == force && bytes.Equal(p.body, body) {
		return p.Answer, nil
	}
	now, answer, err := target.beside(ctx, func() (*unstructured.Unstructured, error) {
		return target.Try(ctx, live, body, options)
	})
	if *p = (Pair{now, answer, body, force}); err != nil {
		return nil, err
	}
	return answer, nil
}

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
			if obj, err = answered(t.Identity, obj, precondition.AsOutdated(err, patch, t.resource.GroupResource(), t.Identity.Name)); err == nil {
				err = precondition.Tried(live, obj)
			}
			return obj, err
		})
		switch {
		case err != nil:
			return nil, nil, err
		case now == nil || now.GetUID() != live.GetUID():
			return nil, nil, precondition.Outdated(t.resource.GroupResource(), t.Identity.Name)
		case now.GetResourceVersion() != made.GetResourceVersion():
		case reflect.DeepEqual(precondition.ManagedFields(now), precondition.ManagedFields(live)):
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
	if !ok || !undo(metadata(live), metadata(now), metadata(out), "/metadata", isSet, "managedFields", "resourceVersion", "generation") {
		return nil, precondition.Outdated(t.resource.GroupResource(), t.Identity.Name)
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

func merged(a, b map[string]any) map[string]any {
	out := maps.Clone(a)
	if out == nil {
		out = map[string]any{}
	}
	maps.Copy(out, b)
	return out
}

// Changed returns where the values of two versions of an object differ, but for what a server changes at each write.
// Lists count as a whole.
func Changed(was, now *unstructured.Unstructured) (paths []projection.Path) {
	var compare func(at projection.Path, was, now map[string]any)
	compare = func(at projection.Path, was, now map[string]any) {
		for name := range merged(was, now) {
			p := at.Child(projection.Field(name))
			before, isMap := was[name].(map[string]any)
			after, isStill := now[name].(map[string]any)
			switch {
			case len(p) == 2 && at[0].Name() == "metadata" && slices.Contains([]string{"managedFields", "resourceVersion", "generation"}, name):
			case isMap && isStill:
				compare(p, before, after)
			case !reflect.DeepEqual(was[name], now[name]):
				paths = append(paths, p)
			}
		}
	}
	compare(nil, was.Object, now.Object)
	return paths
}
