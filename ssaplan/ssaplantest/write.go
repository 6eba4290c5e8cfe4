package ssaplantest

import (
	"errors"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

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
	if err := c.checkBody(obj); err != nil {
		return nil, err
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
	if err := c.checkBody(obj); err != nil {
		return nil, err
	}
	live := c.live()
	if live == nil {
		return nil, c.notFound()
	}
	if !c.kind.builtin && obj.GetResourceVersion() == "" {
		missing := field.Invalid(field.NewPath("metadata", "resourceVersion"), 0, "must be specified for an update")
		return nil, apierrors.NewInvalid(schema.GroupKind{Group: c.kind.Group, Kind: c.kind.Resource}, c.Name,
			field.ErrorList{missing})
	}
	updated, err := c.track(live, c.part(live, obj))
	if err != nil {
		return nil, err
	}
	return c.store(live, updated)
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
		return nil, c.conflict(fmt.Errorf(
			"uid mismatch: the provided object specified uid %s, and no existing object was found", obj.GetUID()))
	case live == nil:
		base = empty(c.kind.GroupVersionKind)
	}
	merged, err := c.fields.Apply(base.DeepCopy(), c.applied(obj), c.FieldManager, c.Force)
	if err != nil {
		return nil, err
	}
	if err := c.checkApplied(); err != nil {
		return nil, err
	}
	applied := merged.(*unstructured.Unstructured)
	if err := fillKeys(applied); err != nil {
		return nil, err
	}
	if live == nil {
		return c.insert(applied)
	}
	return c.store(live, applied)
}

// decoded decodes the body of a write, and does the write.
func (c *call) decoded(
	body []byte, write func(*unstructured.Unstructured) (*unstructured.Unstructured, error),
) (*unstructured.Unstructured, error) {
	content, err := decode(body)
	if err != nil {
		return nil, err
	}
	return write(&unstructured.Unstructured{Object: content})
}

// write is an update or a patch.
func (c *call) write() (*unstructured.Unstructured, error) {
	if c.Verb == "update" {
		return c.decoded(c.body, c.update)
	}
	return c.decodeAndPatch(c.body)
}

func (c *call) decodeAndPatch(data []byte) (*unstructured.Unstructured, error) {
	switch c.PatchType {
	case types.ApplyPatchType:
		return c.decoded(data, c.apply)
	case types.JSONPatchType:
		data = slices.Concat([]byte(`{"operations": `), data, []byte("}"))
	}
	content, err := decode(data)
	if err != nil {
		return nil, err
	}
	return c.patch(content)
}

// patch is a patch of another form than apply.
func (c *call) patch(body map[string]any) (*unstructured.Unstructured, error) {
	live := c.live()
	if live == nil {
		return nil, c.notFound()
	}
	patched := live.DeepCopy()
	var err error
	if patched.Object, err = c.merged(patched.Object, body); err != nil {
		return nil, err
	}
	if err := c.address(patched); err != nil {
		return nil, err
	}
	if err := c.checkPatched(patched); err != nil {
		return nil, err
	}
	tracked, err := c.track(live, c.part(live, patched))
	if err != nil {
		return nil, err
	}
	return c.store(live, tracked)
}

// store stores an object in place of live. A scale is stored with its object.
func (c *call) store(live, obj *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	if c.scale != nil {
		return obj, nil
	}
	return c.replace(live, obj)
}

// track records who owns which field of an object that is written otherwise than by applying.
func (c *call) track(live, obj *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	if err := c.checkSchema(obj); err != nil {
		return nil, err
	}
	tracked, err := c.fields.Update(live.DeepCopy(), obj, c.FieldManager)
	if err != nil {
		return nil, err
	}
	out := tracked.(*unstructured.Unstructured)
	return out, fillKeys(out)
}
