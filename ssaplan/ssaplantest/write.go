package ssaplantest

import (
	"errors"
	"fmt"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/client-go/kubernetes/scheme"
)

// errModified is what a server says of a resourceVersion that is not the object's.
var errModified = errors.New("the object has been modified; please apply your changes to the latest version and try again")

func (c *call) create(obj *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	if err := c.address(obj); err != nil {
		return nil, err
	}
	if obj.GetResourceVersion() != "" {
		return nil, errors.New("resourceVersion should not be set on objects to be created")
	}
	if c.Name == "" && obj.GetGenerateName() != "" {
		obj.SetName(obj.GetGenerateName() + rand.String(5))
	}
	if c.Name = obj.GetName(); c.Name == "" {
		return nil, c.invalid(field.Required(field.NewPath("metadata", "name"), "name or generateName is required"))
	}
	if c.kind.StatusSubresource {
		delete(obj.Object, "status")
	}
	created, err := c.track(empty(c.kind.GroupVersionKind), obj)
	if err != nil {
		return nil, err
	}
	return c.insert(created)
}

func (c *call) update(obj *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	if err := c.address(obj); err != nil {
		return nil, err
	}
	live := c.live()
	if live == nil {
		return nil, c.notFound()
	}
	if !c.kind.builtin && obj.GetResourceVersion() == "" {
		missing := field.Invalid(field.NewPath("metadata", "resourceVersion"), 0, "must be specified for an update")
		return nil, apierrors.NewInvalid(schema.GroupKind{Group: c.kind.Group, Kind: c.kind.Resource}, c.Name, field.ErrorList{missing})
	}
	updated, err := c.track(live, c.part(live, obj))
	if err != nil {
		return nil, err
	}
	return c.replace(live, updated)
}

// apply is server-side apply.
func (c *call) apply(obj *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	if err := c.address(obj); err != nil {
		return nil, err
	}
	live := c.live()
	base := live
	switch {
	case live == nil && c.Subresource != "":
		return nil, c.notFound()
	case live == nil && obj.GetUID() != "":
		return nil, c.conflict(fmt.Errorf("uid mismatch: the provided object specified uid %s, and no existing object was found", obj.GetUID()))
	case live == nil:
		base = empty(c.kind.GroupVersionKind)
	}
	merged, err := c.fields.Apply(base.DeepCopy(), c.applied(obj), c.FieldManager, c.Force)
	if err != nil {
		return nil, err
	}
	applied := merged.(*unstructured.Unstructured)
	if err := fillKeys(applied); err != nil {
		return nil, err
	}
	if live == nil {
		return c.insert(applied)
	}
	return c.replace(live, applied)
}

// patch is a patch of another form than apply.
func (c *call) patch(body map[string]any) (*unstructured.Unstructured, error) {
	live := c.live()
	if live == nil {
		return nil, c.notFound()
	}
	patched := live.DeepCopy()
	var err error
	switch c.PatchType {
	case types.StrategicMergePatchType:
		patched.Object, err = c.strategicMerge(patched.Object, body)
	case types.JSONPatchType:
		patched.Object, err = jsonPatch(patched.Object, body)
	default:
		patched.Object = merge(patched.Object, body)
	}
	if err != nil {
		return nil, err
	}
	if err := c.address(patched); err != nil {
		return nil, err
	}
	tracked, err := c.track(live, c.part(live, patched))
	if err != nil {
		return nil, err
	}
	return c.replace(live, tracked)
}

// merge returns object with a JSON merge patch (RFC 7386) applied. It changes object.
func merge(object, patch map[string]any) map[string]any {
	for name, value := range patch {
		inner, isMap := value.(map[string]any)
		switch {
		case value == nil:
			delete(object, name)
		case isMap:
			old, _ := object[name].(map[string]any)
			if old == nil {
				old = map[string]any{}
			}
			object[name] = merge(old, inner)
		default:
			object[name] = value
		}
	}
	return object
}

// strategicMerge merges by the rules that stand in the Go types of the built-in kinds.
func (c *call) strategicMerge(object, patch map[string]any) (map[string]any, error) {
	example, err := scheme.Scheme.New(c.kind.GroupVersionKind)
	if err != nil {
		return nil, c.unsupportedPatch()
	}
	merged, err := strategicpatch.StrategicMergeMapPatch(object, patch, example)
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	return merged, nil
}

func (c *call) unsupportedPatch() error {
	return apierrors.NewGenericServerResponse(http.StatusUnsupportedMediaType, c.Verb, c.resource(), c.Name,
		fmt.Sprintf("the body of the request was in an unknown format: %s", c.PatchType), 0, false)
}

// delete removes the object, or marks it as being deleted if it has finalizers.
func (c *call) delete(preconditions *metav1.Preconditions) error {
	live := c.live()
	if live == nil {
		return c.notFound()
	}
	if err := c.checkPreconditions(preconditions, live); err != nil || c.DryRun {
		return err
	}
	if len(live.GetFinalizers()) == 0 {
		return c.server.remove(c.key())
	}
	if live.GetDeletionTimestamp() != nil {
		return nil
	}
	at, grace := now(), int64(0)
	live.SetDeletionTimestamp(&at)
	live.SetDeletionGracePeriodSeconds(&grace)
	return c.server.put(c.key(), live)
}

func (c *call) checkPreconditions(p *metav1.Preconditions, live *unstructured.Unstructured) error {
	subject := schema.GroupResource{Group: c.kind.Group, Resource: c.kind.Kind} // the kind is what servers name here
	switch {
	case p == nil:
	case p.UID != nil && *p.UID != live.GetUID():
		return apierrors.NewConflict(subject, c.Name, fmt.Errorf("the UID in the precondition (%s) does not match the UID in record (%s). "+
			"The object might have been deleted and then recreated", *p.UID, live.GetUID()))
	case p.ResourceVersion != nil && *p.ResourceVersion != live.GetResourceVersion():
		return apierrors.NewConflict(subject, c.Name, fmt.Errorf("the ResourceVersion in the precondition (%s) does not match the ResourceVersion in record (%s). "+
			"The object might have been modified", *p.ResourceVersion, live.GetResourceVersion()))
	}
	return nil
}

// track records who owns which field of an object that is written otherwise than by applying.
func (c *call) track(live, obj *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	if _, err := c.server.converter(c.kind).ObjectToTyped(obj); err != nil {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("strict decoding error: %v", err))
	}
	tracked, err := c.fields.Update(live.DeepCopy(), obj, c.FieldManager)
	if err != nil {
		return nil, err
	}
	out := tracked.(*unstructured.Unstructured)
	return out, fillKeys(out)
}
