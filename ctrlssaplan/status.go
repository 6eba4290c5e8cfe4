package ctrlssaplan

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/projection"
)

// seen returns an owner as the informers have it, or as the server has it: if it is asked for afresh, or if the
// informers don't have this owner.
func (k *Kit) seen(ctx context.Context, owner client.Object, afresh bool) (client.Object, error) {
	seen := owner.DeepCopyObject().(client.Object)
	if !afresh && k.Client.Cached(ctx, seen) == nil && seen.GetUID() == owner.GetUID() {
		return seen, nil
	}
	if err := k.Client.Read(ctx, seen); err != nil {
		return nil, err
	}
	if err := follows(owner, seen); err != nil {
		return nil, fmt.Errorf("no status is written: %w", err)
	}
	return seen, nil
}

// writeStatus applies the status of an owner as the caller and the kit have set it, unless it is as it was seen last.
// Then the owner is as the server has it.
func (k *Kit) writeStatus(ctx context.Context, owner, seen client.Object) error {
	if equality.Semantic.DeepEqual(owner, seen) {
		return nil
	}
	status, err := k.statusOf(owner, seen)
	if err != nil || status == nil {
		return err
	}
	if err := k.Client.ApplyStatus(ctx, status, k.options.FieldManager); err != nil {
		return err
	}
	return decodeInto(status, owner)
}

// statusOf returns the status of an owner to apply, or nil if it was seen as it is. Fields that only other field
// managers own are not part of it, unless the caller has set them to another value. If the owner is of another version
// than the one seen, such a difference may also be a write of the other manager, and the field is left to that manager.
func (k *Kit) statusOf(owner, seen client.Object) (*unstructured.Unstructured, error) {
	kind, err := apiutil.GVKForObject(owner, k.scheme)
	if err != nil {
		return nil, err
	}
	wanted, err := statusIn(owner, kind)
	if err != nil {
		return nil, err
	}
	had, err := statusIn(seen, kind)
	if err != nil {
		return nil, err
	}
	others, err := k.ownedByOthers(had)
	if err != nil {
		return nil, err
	}
	fields, err := projection.Outline(had, wanted)
	if err != nil {
		return nil, err
	}
	var differing projection.FieldSet
	for _, d := range projection.Diff(projection.Project(had, fields), projection.Project(wanted, fields)) {
		differing = differing.Union(projection.NewFieldSet(d.Path))
	}
	if owner.GetResourceVersion() == seen.GetResourceVersion() {
		others = others.Without(differing)
	}
	if differing.Without(others).Empty() {
		return nil, nil
	}
	status := &unstructured.Unstructured{Object: projection.Project(wanted, fields.Without(others)).Object}
	status.SetNamespace(owner.GetNamespace())
	status.SetName(owner.GetName())
	status.SetUID(seen.GetUID())
	status.SetResourceVersion(seen.GetResourceVersion())
	return status, nil
}

// ownedByOthers returns the fields of a status that only other field managers own.
func (k *Kit) ownedByOthers(status map[string]any) (projection.FieldSet, error) {
	owners, err := fieldowner.Read(status)
	if err != nil {
		return projection.FieldSet{}, err
	}
	isOwn := fieldowner.Applier{Manager: k.options.FieldManager, Subresource: "status"}.Is
	others := owners.Fields(func(o fieldowner.Owner) bool { return !isOwn(o) })
	return others.Leaves().Difference(owners.Fields(isOwn)), nil
}

// statusIn returns the status of an object, with the managedFields that say who owns its fields.
func statusIn(obj client.Object, kind schema.GroupVersionKind) (map[string]any, error) {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
	if err != nil {
		return nil, err
	}
	status := map[string]any{"apiVersion": kind.GroupVersion().String(), "kind": kind.Kind}
	if metadata, isMap := content["metadata"].(map[string]any); isMap && metadata["managedFields"] != nil {
		status["metadata"] = map[string]any{"managedFields": metadata["managedFields"]}
	}
	if content["status"] != nil {
		status["status"] = content["status"]
	}
	return status, nil
}
