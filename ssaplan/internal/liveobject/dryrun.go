package liveobject

import (
	"context"
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/internal/answer"
	"github.com/ssaplan/primitives/ssaplan/internal/precondition"
	"github.com/ssaplan/primitives/ssaplan/internal/wire"
)

// Try sends the dry run of an apply, and returns the object as the server would make it. Live is as in [Target.Apply].
func (t *Target) Try(ctx context.Context, live *unstructured.Unstructured, body []byte,
	options metav1.PatchOptions) (*unstructured.Unstructured, error) {
	obj, err := t.Apply(ctx, live, body, options, metav1.DryRunAll)
	if err == nil {
		err = precondition.Tried(live, obj)
	}
	if err != nil {
		return nil, err
	}
	return obj, nil
}

// TryPinned is [Target.Try] for a live object that may be out of date, nil if there was none. The dry run is for that
// version of the object. So the server refuses it as outdated if there is another version by now, and nothing is
// written even if something in front of the server drops dryRun. An answer in another version proves that the dry run
// wrote, and is an error. A body that is [precondition.Copied] isn't guarded by the version. For such a body, an answer
// in another version only shows that the live object is out of date. The error is that of an outdated request.
func (t *Target) TryPinned(ctx context.Context, live *unstructured.Unstructured, body []byte,
	options metav1.PatchOptions) (*unstructured.Unstructured, error) {
	pinned, err := precondition.Guarded(body, live, options.FieldManager)
	if err != nil {
		return nil, err
	}
	obj, err := t.Try(ctx, live, pinned, options)
	if err != nil {
		return nil, err
	}
	// where no object exists, the server ignores the version in the body, and answers with it
	if live == nil && obj.GetResourceVersion() == precondition.AbsentVersion {
		return unversioned(obj), nil
	}
	if version := obj.GetResourceVersion(); live == nil && version != "" || live != nil &&
		version != live.GetResourceVersion() {
		if precondition.Copied(body, live, options.FieldManager) {
			return nil, precondition.Outdated(t.GroupResource(), obj.GetName())
		}
		return nil, precondition.DryRunWrote(obj)
	}
	return obj, nil
}

// unversioned returns an object without its resourceVersion. The object itself isn't modified.
func unversioned(obj *unstructured.Unstructured) *unstructured.Unstructured {
	content := maps.Clone(obj.Object)
	if metadata, ok := content["metadata"].(map[string]any); ok {
		metadata = maps.Clone(metadata)
		delete(metadata, "resourceVersion")
		content["metadata"] = metadata
	}
	return &unstructured.Unstructured{Object: content}
}

// TryUnread is [Target.Try] for a live object that the caller may not read. Nothing would show afterwards that the dry
// run wrote. So the server is asked before each of these dry runs whether it receives dryRun, and has to confirm it.
func (t *Target) TryUnread(ctx context.Context, body []byte,
	options metav1.PatchOptions) (*unstructured.Unstructured, error) {
	if err := t.ask(ctx, t.Resource, body, options); err != nil {
		return nil, err
	}
	return t.Try(ctx, nil, body, options)
}

// ask returns an error unless the server shows now that it receives the dryRun of an apply. The question counts as a
// request of by.
func (t *Target) ask(ctx context.Context, by *wire.Resource, body []byte, options metav1.PatchOptions) error {
	var sub []string
	if t.subresource != "" {
		sub = []string{t.subresource}
	}
	return by.AskApply(ctx, t.Identity.Name, body, options, sub...)
}

// Whole returns a function that tries by force to apply the body, which has the whole manifest, to the live object. It
// returns nil unless that is needed because the server refused a part of the manifest.
func (t *Target) Whole(isNeeded bool, live *unstructured.Unstructured, body []byte,
	options metav1.PatchOptions) func(context.Context) error {
	if !isNeeded {
		return nil
	}
	force := true
	options.Force = &force
	return func(ctx context.Context) error {
		_, err := t.Try(ctx, live, body, options)
		return err
	}
}

// Recorded returns the live object with the managedFields that a server gives an object without any when it is applied
// for the first time. Only they show which lists have items with owners of their own, and which lists and maps have one
// owner. An object with managedFields is returned as it is, and so is one that the server refuses to try. The server is
// asked once for an object.
func (t *Target) Recorded(ctx context.Context, live *unstructured.Unstructured,
	options metav1.PatchOptions) (*unstructured.Unstructured, error) {
	if live == nil || t.subresource != "" || len(live.GetManagedFields()) > 0 {
		return live, nil
	}
	if t.unrecorded == live {
		return t.recorded, nil
	}
	nothing := &unstructured.Unstructured{Object: map[string]any{}}
	nothing.SetGroupVersionKind(live.GroupVersionKind())
	nothing.SetName(live.GetName())
	nothing.SetNamespace(live.GetNamespace())
	body, err := nothing.MarshalJSON()
	if err != nil {
		return nil, err
	}
	made, err := t.TryPinned(ctx, live, body, options)
	if slices.ContainsFunc(answer.Statuses(err), answer.IsRefusal) {
		return live, nil
	}
	if err != nil {
		return nil, err
	}
	t.unrecorded, t.recorded = live, live.DeepCopy()
	t.recorded.SetManagedFields(made.GetManagedFields())
	return t.recorded, nil
}
