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

// TryPinned is [Target.Try] for a live object that may be of long ago, nil if there was none. The dry run is for that
// version of it, so that the server refuses it as outdated if there is another by now; then nothing can be written even
// if something in front of the server drops dryRun. An answer in another version proves that the dry run wrote, and is
// an error. For a body that is [precondition.Copied] it only shows that live isn't of this moment, and is an error as
// if the server had refused it.
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
	if live == nil && obj.GetResourceVersion() == precondition.AbsentVersion { // as a server ignores it, and sends it back
		return unversioned(obj), nil
	}
	if version := obj.GetResourceVersion(); live == nil && version != "" || live != nil && version != live.GetResourceVersion() {
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

// TryUnread is [Target.Try] for a live object that the caller may not read. Nobody could tell afterwards whether that
// dry run wrote, so the server is asked before each of these whether it gets the dryRun, and has to say so.
func (t *Target) TryUnread(ctx context.Context, body []byte, options metav1.PatchOptions) (*unstructured.Unstructured, error) {
	if err := t.ask(ctx, t.Resource, body, options); err != nil {
		return nil, err
	}
	return t.Try(ctx, nil, body, options)
}

// ask returns an error unless the server says now that it gets the dryRun of an apply. The request is counted as one of
// by.
func (t *Target) ask(ctx context.Context, by *wire.Resource, body []byte, options metav1.PatchOptions) error {
	var sub []string
	if t.subresource != "" {
		sub = []string{t.subresource}
	}
	return by.AskApply(ctx, t.Identity.Name, body, options, sub...)
}

// Whole returns what tries by force to apply the body, which has all of a manifest, to the live object; nil unless that
// is needed, since the server refused a part of it.
func (t *Target) Whole(isNeeded bool, live *unstructured.Unstructured, body []byte, options metav1.PatchOptions) func(context.Context) error {
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

// Recorded returns the live object with the record of owners that a server makes of one that has none, when it is
// applied for the first time. Nothing else tells which lists have items of their own, and which lists and maps have one
// owner. An object that has a record, or of which the server doesn't tell, is returned as it is. It is asked once for
// an object.
func (t *Target) Recorded(ctx context.Context, live *unstructured.Unstructured, options metav1.PatchOptions) (*unstructured.Unstructured, error) {
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
