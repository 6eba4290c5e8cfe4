package ssaplantest

import (
	"fmt"
	"reflect"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// address compares what an object says of itself with where the request goes, and fills in what it doesn't say.
func (c *call) address(obj *unstructured.Unstructured) error {
	if kind := obj.GroupVersionKind(); kind != c.kind.GroupVersionKind {
		return apierrors.NewBadRequest(fmt.Sprintf("invalid object type: %s", kind))
	}
	for _, field := range []string{"name", "namespace"} {
		if _, _, err := unstructured.NestedString(obj.Object, "metadata", field); err != nil {
			return apierrors.NewBadRequest(err.Error())
		}
	}
	if name := obj.GetName(); name != "" && c.Name != "" && name != c.Name {
		return apierrors.NewBadRequest(fmt.Sprintf("the name of the object (%s) does not match the name on the URL (%s)", name, c.Name))
	}
	if namespace := obj.GetNamespace(); namespace != "" && c.Namespace != "" && namespace != c.Namespace {
		return apierrors.NewBadRequest("the namespace of the provided object does not match the namespace sent on the request")
	}
	obj.SetNamespace(c.Namespace)
	if c.Name != "" {
		obj.SetName(c.Name)
	}
	return nil
}

// part returns the object that results from a write: obj, with the fields of live that the request can't write.
func (c *call) part(live, obj *unstructured.Unstructured) *unstructured.Unstructured {
	switch {
	case c.Subresource != "":
		out := live.DeepCopy()
		out.SetUID(obj.GetUID())
		out.SetResourceVersion(obj.GetResourceVersion())
		copyField(out, obj, "status")
		return out
	case c.kind.StatusSubresource:
		copyField(obj, live, "status")
	}
	return obj
}

// applied returns what of an applied object has an effect.
func (c *call) applied(obj *unstructured.Unstructured) *unstructured.Unstructured {
	switch {
	case c.Subresource != "":
		out := empty(c.kind.GroupVersionKind)
		out.SetNamespace(obj.GetNamespace())
		out.SetName(obj.GetName())
		out.SetUID(obj.GetUID())
		out.SetResourceVersion(obj.GetResourceVersion())
		copyField(out, obj, "status")
		return out
	case c.kind.StatusSubresource:
		delete(obj.Object, "status")
	}
	return obj
}

// copyField gives to the field that from has, or none if it has none.
func copyField(to, from *unstructured.Unstructured, path ...string) {
	value, found, err := unstructured.NestedFieldCopy(from.Object, path...)
	if err != nil || !found {
		unstructured.RemoveNestedField(to.Object, path...)
		return
	}
	// It fails only where the parents are no maps, and then they are no object's.
	_ = unstructured.SetNestedField(to.Object, value, path...)
}

// insert stores an object that doesn't exist.
func (c *call) insert(obj *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	if c.Namespace != "" && c.server.objects[key{namespaces.GroupResource(), "", c.Namespace}] == nil {
		return nil, apierrors.NewNotFound(namespaces.GroupResource(), c.Namespace)
	}
	if live := c.live(); live != nil {
		err := apierrors.NewAlreadyExists(c.resource(), c.Name)
		if live.GetDeletionTimestamp() != nil {
			err.ErrStatus.Message = "object is being deleted: " + err.ErrStatus.Message
		}
		return nil, err
	}
	initialize(obj, c.kind)
	if c.DryRun {
		return obj, nil
	}
	if err := c.server.put(c.key(), obj); err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	return obj.DeepCopy(), nil
}

// initialize gives a new object the metadata that only the server sets.
func initialize(obj *unstructured.Unstructured, kind Kind) {
	obj.SetUID(uuid.NewUUID())
	obj.SetCreationTimestamp(now())
	for _, name := range []string{"resourceVersion", "generation", "selfLink", "deletionTimestamp", "deletionGracePeriodSeconds"} {
		unstructured.RemoveNestedField(obj.Object, "metadata", name)
	}
	if kind.countsGenerations() {
		obj.SetGeneration(1)
	}
	if kind.resource() == namespaces {
		// It fails only where the status is no map, which the schema refuses.
		_ = unstructured.SetNestedField(obj.Object, "Active", "status", "phase")
	}
}

// replace stores an object in place of live.
func (c *call) replace(live, obj *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	if err := c.checkIdentity(live, obj); err != nil {
		return nil, err
	}
	obj.SetUID(live.GetUID())
	obj.SetResourceVersion(live.GetResourceVersion())
	for _, name := range []string{"creationTimestamp", "generation", "selfLink", "deletionTimestamp", "deletionGracePeriodSeconds"} {
		copyField(obj, live, "metadata", name)
	}
	if err := c.checkFinalizers(live, obj); err != nil {
		return nil, err
	}
	if sameButTimes(live, obj) {
		return live, nil
	}
	if c.kind.countsGenerations() && !reflect.DeepEqual(content(live), content(obj)) {
		obj.SetGeneration(live.GetGeneration() + 1)
	}
	if c.DryRun {
		return obj, nil
	}
	if obj.GetDeletionTimestamp() != nil && len(obj.GetFinalizers()) == 0 {
		return obj, c.server.remove(c.key())
	}
	if err := c.server.put(c.key(), obj); err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	return obj.DeepCopy(), nil
}

// checkIdentity checks that the write is about this object in this version, if it says which one it is about.
func (c *call) checkIdentity(live, obj *unstructured.Unstructured) error {
	if version := obj.GetResourceVersion(); version != "" && version != live.GetResourceVersion() {
		return c.conflict(errModified)
	}
	uid := obj.GetUID()
	switch {
	case uid == "" || uid == live.GetUID():
		return nil
	case c.Verb == "update":
		return c.conflict(fmt.Errorf("StorageError: invalid object, Precondition failed: UID in precondition: %s, UID in object meta: %s", uid, live.GetUID()))
	}
	return c.invalid(field.Invalid(field.NewPath("metadata", "uid"), uid, "field is immutable"))
}

// checkFinalizers checks that an object that is being deleted isn't held up more.
func (c *call) checkFinalizers(live, obj *unstructured.Unstructured) error {
	if live.GetDeletionTimestamp() == nil {
		return nil
	}
	added := slices.DeleteFunc(obj.GetFinalizers(), func(f string) bool { return slices.Contains(live.GetFinalizers(), f) })
	if len(added) == 0 {
		return nil
	}
	return c.invalid(field.Forbidden(field.NewPath("metadata", "finalizers"),
		fmt.Sprintf("no new finalizers can be added if the object is being deleted, found new finalizers %#v", added)))
}

// sameButTimes reports whether two versions of an object differ in nothing but when their managers wrote.
func sameButTimes(a, b *unstructured.Unstructured) bool {
	return reflect.DeepEqual(timeless(a), timeless(b))
}

// timeless returns the object without the times of its managers.
func timeless(obj *unstructured.Unstructured) map[string]any {
	out := obj.DeepCopy()
	entries := out.GetManagedFields()
	for i := range entries {
		entries[i].Time = nil
	}
	out.SetManagedFields(entries)
	return out.Object
}

// content returns what of an object its generation counts.
func content(obj *unstructured.Unstructured) map[string]any {
	out := obj.DeepCopy().Object
	delete(out, "metadata")
	delete(out, "status")
	return out
}
