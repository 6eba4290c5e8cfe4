package proof_test

import (
	"context"
	"encoding/json"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/jsonmergepatch"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/util/csaupgrade"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/internal/kinds"
)

// clientApply does what kubectl apply does on the client's side: it creates the object, or patches what the manifest
// has changed since the one in the annotation, and keeps the manifest there.
func (o *object) clientApply(ctx context.Context, s Step) error {
	m := o.manifest(s)
	resource, err := o.resource(m.GroupVersionKind())
	if err != nil {
		return err
	}
	applied, err := m.MarshalJSON()
	if err != nil {
		return err
	}
	annotations := m.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[kinds.LastApplied] = string(applied)
	m.SetAnnotations(annotations)
	live, err := resource.Get(ctx, o.name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		_, err = resource.Create(ctx, m, metav1.CreateOptions{FieldManager: fieldowner.ClientSideApply})
		return err
	}
	if err != nil {
		return err
	}
	kind, patch, err := threeWay([]byte(live.GetAnnotations()[kinds.LastApplied]), m, live)
	if err != nil || string(patch) == "{}" {
		return err
	}
	_, err = resource.Patch(ctx, o.name, kind, patch, metav1.PatchOptions{FieldManager: fieldowner.ClientSideApply})
	return err
}

// threeWay returns the patch that kubectl sends.
func threeWay(original []byte, m, live *unstructured.Unstructured) (types.PatchType, []byte, error) {
	modified, err := json.Marshal(m.Object)
	if err != nil {
		return "", nil, err
	}
	current, err := json.Marshal(live.Object)
	if err != nil {
		return "", nil, err
	}
	typed, err := scheme.Scheme.New(m.GroupVersionKind())
	if err != nil { // a custom resource
		if len(original) == 0 {
			original = []byte("{}")
		}
		patch, err := jsonmergepatch.CreateThreeWayJSONMergePatch(original, modified, current)
		return types.MergePatchType, patch, err
	}
	keys, err := strategicpatch.NewPatchMetaFromStruct(typed)
	if err != nil {
		return "", nil, err
	}
	patch, err := strategicpatch.CreateThreeWayMergePatch(original, modified, current, keys, true)
	return types.StrategicMergePatchType, patch, err
}

// serverApply does what kubectl apply --server-side does: what was written on the client's side changes owners before
// the apply. kubectl itself does that after a first apply, and then applies again.
func (o *object) serverApply(ctx context.Context, s Step) (*unstructured.Unstructured, error) {
	m := o.manifest(s)
	resource, err := o.resource(m.GroupVersionKind())
	if err != nil {
		return nil, err
	}
	live, err := resource.Get(ctx, o.name, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	patch, err := csaupgrade.UpgradeManagedFieldsPatch(live, sets.New(fieldowner.ClientSideApply), s.By)
	if err != nil {
		return nil, err
	}
	if len(patch) > 0 {
		if _, err := resource.Patch(ctx, o.name, types.JSONPatchType, patch, metav1.PatchOptions{FieldManager: s.By}); err != nil {
			return nil, err
		}
	}
	return o.apply(ctx, m, s)
}
