package ctrlssaplan

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"

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
// informers don't have this owner, or an older one.
func (k *Kit) seen(ctx context.Context, owner client.Object, afresh bool) (client.Object, error) {
	seen := owner.DeepCopyObject().(client.Object)
	if !afresh && k.Client.Cached(ctx, seen) == nil && follows(owner, seen) == nil {
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

// got returns an owner as the caller got it, before it changed the status, if the informers still have that.
func (k *Kit) got(ctx context.Context, owner client.Object) client.Object {
	got := owner.DeepCopyObject().(client.Object)
	if k.Client.Cached(ctx, got) != nil || !isSameEdition(got, owner) {
		return nil
	}
	return got
}

func isSameEdition(a, b client.Object) bool {
	return a.GetUID() == b.GetUID() && a.GetResourceVersion() == b.GetResourceVersion()
}

// rebase sets the status of an owner to the one that was seen with what the caller has changed in its own, which is
// that of wanted. Got is what the caller had got, nil if that isn't known. Then some differences may be the work of
// another field manager as well as of the caller. They are left to the manager and returned, so that the caller gets
// another try.
func (k *Kit) rebase(owner, got, wanted, seen client.Object) (unclear []projection.Path, err error) {
	kind, err := apiutil.GVKForObject(owner, k.scheme)
	if err != nil {
		return nil, err
	}
	var statuses [3]map[string]any
	for i, obj := range []client.Object{cmp.Or(got, seen), wanted, seen} {
		if statuses[i], err = statusIn(obj, kind); err != nil {
			return nil, err
		}
	}
	fields, err := projection.Outline(statuses[:]...)
	if err != nil {
		return nil, err
	}
	changes := projection.Diff(projection.Project(statuses[0], fields), projection.Project(statuses[1], fields))
	if got == nil {
		if changes, unclear, err = k.changesOf(changes, statuses[1], statuses[2]); err != nil {
			return nil, err
		}
	}
	merged := runtime.DeepCopyJSON(statuses[2])
	status := projection.NewObject(merged, fields)
	for _, c := range changes {
		switch c.Op {
		case projection.OpAdd, projection.OpChange:
			err = status.Set(c.Path, c.After)
		case projection.OpRemove:
			status.Strip(c.Path)
		}
		if err != nil {
			return nil, err
		}
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(owner)
	if err != nil {
		return nil, err
	}
	content = maps.Clone(content)
	if delete(content, "status"); merged["status"] != nil {
		content["status"] = merged["status"]
	}
	return unclear, decodeInto(&unstructured.Unstructured{Object: content}, owner)
}

// changesOf returns those of the differences between an owner as it was seen and an older one that are the work of the
// caller who changed the older one, and the places of those that may be. A difference is the caller's where the records
// of both name the same other managers with the same times: none of them has written since. Times are in seconds, so a
// second write within one isn't seen. What the older one knows nothing of came later.
func (k *Kit) changesOf(differences []projection.Difference, wanted,
	seen map[string]any) (changes []projection.Difference, unclear []projection.Path, err error) {
	then, err := fieldowner.Read(wanted)
	if err != nil {
		return nil, nil, err
	}
	now, err := fieldowner.Read(seen)
	if err != nil {
		return nil, nil, err
	}
	for _, d := range differences {
		others := func(in fieldowner.Ownership) []fieldowner.Owner {
			return slices.DeleteFunc(in.Below(d.Path), k.isOwn)
		}
		switch isSet := d.After != nil && !reflect.ValueOf(d.After).IsZero(); {
		case slices.Equal(others(then), others(now)):
			changes = append(changes, d)
		case isSet || len(then.Below(d.Path)) > 0:
			unclear = append(unclear, d.Path)
		}
	}
	return changes, unclear, nil
}

// isOwn reports whether an entry of managedFields is the controller's: that of what it applies to the status, or one of
// an update, as by the controller before it took this kit.
func (k *Kit) isOwn(o fieldowner.Owner) bool {
	return k.applier().Is(o) || fieldowner.By(k.options.FieldManager)(o) && o.Operation == fieldowner.OperationUpdate
}

func (k *Kit) applier() fieldowner.Applier {
	return fieldowner.Applier{Manager: k.options.FieldManager, Subresource: "status"}
}

// writeStatus applies the status of an owner as the caller and the kit have set it, unless it is as it was seen last.
// Then the owner is as the server has it.
func (k *Kit) writeStatus(ctx context.Context, owner, seen client.Object) error {
	if equality.Semantic.DeepEqual(owner, seen) {
		return nil
	}
	status, patch, err := k.statusOf(owner, seen)
	if err != nil || status == nil {
		return err
	}
	if patch != nil {
		patched := seen.DeepCopyObject().(client.Object)
		if err := k.Client.PatchStatus(ctx, patched, patch, k.options.FieldManager); err != nil {
			return err
		}
		status.SetResourceVersion(patched.GetResourceVersion())
	}
	if err := k.Client.ApplyStatus(ctx, status, k.options.FieldManager); err != nil {
		return err
	}
	return decodeInto(status, owner)
}

// statusOf returns the status of an owner to apply, or nil if it was seen as it is, and a JSON patch to send before, if
// there has to be one. Fields that only other field managers own are not part of the status, unless they have another
// value now. Such a field stays if the owner lacks it, as one does whose status was made anew.
func (k *Kit) statusOf(owner, seen client.Object) (status *unstructured.Unstructured, patch []byte, err error) {
	kind, err := apiutil.GVKForObject(owner, k.scheme)
	if err != nil {
		return nil, nil, err
	}
	wanted, err := statusIn(owner, kind)
	if err != nil {
		return nil, nil, err
	}
	had, err := statusIn(seen, kind)
	if err != nil {
		return nil, nil, err
	}
	owners, err := fieldowner.Read(had)
	if err != nil {
		return nil, nil, err
	}
	fields, err := projection.Outline(had, wanted)
	if err != nil {
		return nil, nil, err
	}
	var set, removed projection.FieldSet
	for _, d := range projection.Diff(projection.Project(had, fields), projection.Project(wanted, fields)) {
		if d.Op == projection.OpRemove {
			removed = removed.Union(projection.NewFieldSet(d.Path))
		} else {
			set = set.Union(projection.NewFieldSet(d.Path))
		}
	}
	others := owners.Fields(func(o fieldowner.Owner) bool { return !k.isOwn(o) })
	others = others.Leaves().Difference(owners.Fields(k.isOwn)).Without(set)
	if set.Union(removed).Without(others).Empty() {
		return nil, nil, nil
	}
	status = &unstructured.Unstructured{Object: projection.Project(wanted, fields.Without(others)).Object}
	status.SetNamespace(owner.GetNamespace())
	status.SetName(owner.GetName())
	status.SetUID(seen.GetUID())
	status.SetResourceVersion(seen.GetResourceVersion())
	patch, err = k.removal(projection.NewObject(runtime.DeepCopyJSON(had), fields),
		projection.NewObject(wanted, fields), removed, owners)
	return status, patch, err
}

type patchOperation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value,omitempty"`
}

// removal returns the JSON patch that removes what the controller once wrote by an update, and no one else owns, from
// the status that the server has; nil if there is nothing of that. An apply removes only what was applied before. That
// such fields count as applied from now on can't be had instead: through a status a server changes no managedFields.
func (k *Kit) removal(had, wanted *projection.Object, removed projection.FieldSet,
	owners fieldowner.Ownership) ([]byte, error) {
	var operations []patchOperation
	remove := func(p projection.Path) {
		if pointer, exists := had.Pointer(p); exists && had.Remove(p) {
			operations = append(operations, patchOperation{Op: "remove", Path: pointer})
		}
	}
	for p := range removed.All() {
		by := owners.Below(p)
		isOthers := slices.ContainsFunc(by, func(o fieldowner.Owner) bool { return !k.isOwn(o) })
		if isOthers || !slices.ContainsFunc(by, func(o fieldowner.Owner) bool { return !k.applier().Is(o) }) {
			continue
		}
		remove(p)
		for around := p[:len(p)-1]; len(around) > 0; around = around[:len(around)-1] {
			left, _ := had.Get(around)
			if _, isWanted := wanted.Get(around); isWanted || !fieldowner.IsHollow(left) {
				break
			}
			remove(around)
		}
	}
	if operations == nil {
		return nil, nil
	}
	version, _ := had.Get(projection.Path{projection.Field("metadata"), projection.Field("resourceVersion")})
	return json.Marshal(append(operations, patchOperation{"replace", "/metadata/resourceVersion", version}))
}

// statusIn returns the status of an object, with the managedFields that say who owns its fields, and the version of
// that.
func statusIn(obj client.Object, kind schema.GroupVersionKind) (map[string]any, error) {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
	if err != nil {
		return nil, err
	}
	status := map[string]any{"apiVersion": kind.GroupVersion().String(), "kind": kind.Kind}
	if metadata, isMap := content["metadata"].(map[string]any); isMap && metadata["managedFields"] != nil {
		status["metadata"] = map[string]any{"managedFields": metadata["managedFields"],
			"resourceVersion": obj.GetResourceVersion()}
	}
	if content["status"] != nil {
		status["status"] = content["status"]
	}
	return status, nil
}
