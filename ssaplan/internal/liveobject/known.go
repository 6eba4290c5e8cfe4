package liveobject

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/identity"
	facts "github.com/ssaplan/primitives/internal/kinds"
	"github.com/ssaplan/primitives/internal/managedfields"
	"github.com/ssaplan/primitives/ssaplan/internal/precondition"
)

// Known returns the live object without a read: the supplied one, see [Target.Supplied], or the one of the lists, see
// [Target.Listed]. It returns nil if there is neither; absent reports whether the object doesn't exist by the lists.
// Both may be out of date.
func (t *Target) Known(ctx context.Context, given,
	manifest *unstructured.Unstructured) (live *unstructured.Unstructured, absent bool, err error) {
	if live, err = t.Supplied(given, manifest); live != nil || err != nil {
		return live, false, err
	}
	live, known := t.Listed(ctx, manifest)
	return live, known && live == nil, nil
}

// Listed returns the object from the lists of [ReadByLists], nil if there is none, and whether the lists have an
// answer. The object may have been changed, created or deleted since. The lists have no answer for a manifest with a
// uid or a resourceVersion, nor for a subresource of an object that doesn't exist.
func (t *Target) Listed(ctx context.Context,
	manifest *unstructured.Unstructured) (live *unstructured.Unstructured, known bool) {
	all, _ := ctx.Value(listsKey{}).(lists)
	id := t.Identity
	of, key := all.of(id)
	if of == nil || isConditional(manifest) {
		return nil, false
	}
	item, known := of.take(ctx, t.Resource, key)
	if !known || item == nil {
		return nil, known && t.subresource == ""
	}
	obj, ok := t.Keep(ctx, *item)
	if !ok {
		return nil, false
	}
	if _, err := answered(id, obj, precondition.Complete(obj)); err != nil {
		return nil, false // a read names what is wrong
	}
	return t.seen(obj), true
}

// Supplied returns the live object that the caller supplied, or nil if it can't be used: it has no managedFields, which
// some caches drop, or no version, or the manifest has a uid or a resourceVersion itself. An object without apiVersion
// and kind, as typed clients read it, gets those of the target.
func (t *Target) Supplied(live, manifest *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	if live == nil {
		return nil, nil
	}
	if IsLossy(live) {
		live = t.completed(live)
	}
	id, err := identity.Of(live.Object)
	if err != nil {
		return nil, fmt.Errorf("supplied live object: %w", err)
	}
	if id != t.Identity {
		return nil, fmt.Errorf("the supplied live object is another one: %s", id)
	}
	if len(managedfields.Of(live.Object)) == 0 || precondition.Complete(live) != nil || isConditional(manifest) {
		return nil, nil
	}
	return t.seen(live), nil
}

// isConditional reports whether a manifest has a uid or a resourceVersion.
func isConditional(manifest *unstructured.Unstructured) bool {
	metadata, _ := manifest.Object["metadata"].(map[string]any)
	return slices.ContainsFunc(facts.Preconditions, func(name string) bool { return metadata[name] != nil })
}

// IsLossy reports whether an object is as a typed client reads it, which leaves out apiVersion and kind. Such a client
// leaves out as well what its Go type doesn't know, and adds what the type doesn't omit.
func IsLossy(live *unstructured.Unstructured) bool {
	return live != nil && live.Object != nil && live.GetAPIVersion() == "" && live.GetKind() == ""
}

// completed returns a lossy object with apiVersion and kind of the target, and without nulls, which typed clients write
// for missing fields.
func (t *Target) completed(live *unstructured.Unstructured) *unstructured.Unstructured {
	content := withoutNulls(live.Object).(map[string]any)
	content["apiVersion"], content["kind"] = t.Identity.APIVersion, t.Identity.Kind
	return &unstructured.Unstructured{Object: content}
}

// withoutNulls returns a copy of a value without the fields that are null.
func withoutNulls(v any) any {
	switch v := v.(type) {
	case map[string]any:
		copied := make(map[string]any, len(v))
		for name, field := range v {
			if field != nil {
				copied[name] = withoutNulls(field)
			}
		}
		return copied
	case []any:
		copied := make([]any, len(v))
		for i, item := range v {
			copied[i] = withoutNulls(item)
		}
		return copied
	}
	return v
}
