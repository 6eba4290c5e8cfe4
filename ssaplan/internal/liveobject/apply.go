package liveobject

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/fieldowner"
	facts "github.com/ssaplan/primitives/internal/kinds"
	"github.com/ssaplan/primitives/ssaplan/internal/precondition"
	"github.com/ssaplan/primitives/ssaplan/internal/scale"
)

// Apply sends a server-side apply, and returns the object as the server made it, or for a dry run would make it. Live
// is the object as it was, nil if there was none or it isn't known; the answer may share memory with it.
func (t *Target) Apply(ctx context.Context, live *unstructured.Unstructured, body []byte,
	options metav1.PatchOptions, dryRun ...string) (*unstructured.Unstructured, error) {
	options.DryRun = dryRun
	id := t.Identity
	if t.subresource == "" {
		obj, err := t.Resource.Apply(ctx, id.Name, body, options)
		return answered(id, obj, err)
	}
	apiVersion, kind, other := facts.OfSubresource(t.subresource)
	if other {
		id.APIVersion, id.Kind = apiVersion, kind
	}
	obj, err := t.Resource.Apply(ctx, id.Name, body, options, t.subresource)
	if obj, err = answered(id, obj, err); err != nil || !other {
		return obj, t.replicas.Refused(t.Identity.APIVersion, err)
	}
	applier := fieldowner.Applier{Manager: options.FieldManager, Subresource: t.subresource}
	return scale.Applied(obj, live, applier, t.Identity.APIVersion), nil
}

// Patch sends a JSON patch of the live object itself, and returns the object as the server made it, or for a dry run
// would make it. The patch has to name the live object's resourceVersion. Unless it is a dry run, it may be a patch of
// [precondition.ByRecord] instead. An answer to a dry run in another version proves that it wrote, and is an error. The
// answer to a write is checked by [precondition.Written].
func (t *Target) Patch(ctx context.Context, live *unstructured.Unstructured, patch []byte, manager string,
	dryRun ...string) (*unstructured.Unstructured, error) {
	obj, err := t.Resource.JSONPatch(ctx, t.Identity.Name, patch,
		metav1.PatchOptions{FieldManager: manager, DryRun: dryRun})
	obj, err = answered(t.Identity, obj, precondition.AsOutdated(err, patch, t.GroupResource(), t.Identity.Name))
	if err == nil {
		err = precondition.Complete(obj)
	}
	switch {
	case err != nil:
	case len(dryRun) == 0:
		err = precondition.Written(live, obj)
	default:
		if err = precondition.Tried(live, obj); err == nil && obj.GetResourceVersion() != live.GetResourceVersion() {
			t.wrote = precondition.DryRunWrote(obj)
			err = t.wrote
		}
	}
	if err != nil {
		return nil, err
	}
	return obj, nil
}
