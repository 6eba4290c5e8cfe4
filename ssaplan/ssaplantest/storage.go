package ssaplantest

import (
	"errors"
	"fmt"
	"reflect"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// errModified is what a server says of a resourceVersion that is not the object's.
var errModified = errors.New(
	"the object has been modified; please apply your changes to the latest version and try again")

// insert stores an object that doesn't exist.
func (c *call) insert(obj *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	if c.Namespace != "" && c.cluster.objects[key{namespaces.GroupResource(), "", c.Namespace}] == nil {
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
	if err := c.cluster.put(c.key(), obj); err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	return obj.DeepCopy(), nil
}

// replace stores an object in place of live.
func (c *call) replace(live, obj *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	if err := c.checkIdentity(live, obj); err != nil {
		return nil, err
	}
	obj.SetUID(live.GetUID())
	obj.SetResourceVersion(live.GetResourceVersion())
	for _, name := range []string{"creationTimestamp", "generation", "selfLink", "deletionTimestamp",
		"deletionGracePeriodSeconds"} {
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
	if obj.GetDeletionTimestamp() != nil && !isHeld(obj) {
		return obj, c.cluster.remove(c.key())
	}
	if err := c.cluster.put(c.key(), obj); err != nil {
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
		return c.conflict(fmt.Errorf(
			"StorageError: invalid object, Precondition failed: UID in precondition: %s, UID in object meta: %s", uid,
			live.GetUID()))
	}
	return c.invalid(field.Invalid(field.NewPath("metadata", "uid"), uid, "field is immutable"))
}

// checkFinalizers checks that an object that is being deleted isn't held up more.
func (c *call) checkFinalizers(live, obj *unstructured.Unstructured) error {
	if live.GetDeletionTimestamp() == nil {
		return nil
	}
	added := slices.DeleteFunc(obj.GetFinalizers(),
		func(f string) bool { return slices.Contains(live.GetFinalizers(), f) })
	if len(added) == 0 {
		return nil
	}
	return c.invalid(field.Forbidden(field.NewPath("metadata", "finalizers"),
		fmt.Sprintf("no new finalizers can be added if the object is being deleted, found new finalizers %#v", added)))
}

// delete removes the object, or marks it as being deleted if it has finalizers.
func (c *call) delete(options metav1.DeleteOptions) error {
	live := c.live()
	if live == nil {
		return c.notFound()
	}
	if err := c.checkPreconditions(options.Preconditions, live); err != nil || c.DryRun {
		return err
	}
	if !isHeld(live) {
		return c.cluster.remove(c.key())
	}
	before := live.DeepCopy()
	live.SetFinalizers(finalizersFor(options, live.GetFinalizers()))
	if live.GetDeletionTimestamp() == nil {
		at, grace := now(), int64(0)
		live.SetDeletionTimestamp(&at)
		live.SetDeletionGracePeriodSeconds(&grace)
	}
	if reflect.DeepEqual(before, live) {
		return nil
	}
	return c.cluster.put(c.key(), live)
}

// ofCollector reports whether a finalizer is one of the garbage collector, which removes them when it has done its work
// with the dependents of the object.
func ofCollector(finalizer string) bool {
	return finalizer == metav1.FinalizerOrphanDependents || finalizer == metav1.FinalizerDeleteDependents
}

// isHeld reports whether an object has finalizers other than those of the garbage collector, which has no work here.
func isHeld(obj *unstructured.Unstructured) bool {
	return slices.ContainsFunc(obj.GetFinalizers(), func(f string) bool { return !ofCollector(f) })
}

// finalizersFor returns the finalizers of an object that is deleted with a propagation policy. Without one, those that
// the object has stay.
func finalizersFor(options metav1.DeleteOptions, has []string) []string {
	policy := options.PropagationPolicy
	//lint:ignore SA1019 a server knows it
	if orphan := options.OrphanDependents; orphan != nil {
		background, orphans := metav1.DeletePropagationBackground, metav1.DeletePropagationOrphan
		if policy = &background; *orphan {
			policy = &orphans
		}
	}
	if policy == nil {
		return has
	}
	out := slices.DeleteFunc(slices.Clone(has), ofCollector)
	switch *policy {
	case metav1.DeletePropagationOrphan:
		out = append(out, metav1.FinalizerOrphanDependents)
	case metav1.DeletePropagationForeground:
		out = append(out, metav1.FinalizerDeleteDependents)
	}
	return out
}

func (c *call) checkPreconditions(p *metav1.Preconditions, live *unstructured.Unstructured) error {
	subject := schema.GroupResource{Group: c.kind.Group, Resource: c.kind.Kind} // the kind is what servers name here
	switch {
	case p == nil:
	case p.UID != nil && *p.UID != live.GetUID():
		return apierrors.NewConflict(subject, c.Name,
			fmt.Errorf("the UID in the precondition (%s) does not match the UID in record (%s). "+
				"The object might have been deleted and then recreated", *p.UID, live.GetUID()))
	case p.ResourceVersion != nil && *p.ResourceVersion != live.GetResourceVersion():
		return apierrors.NewConflict(subject, c.Name,
			fmt.Errorf(
				"the ResourceVersion in the precondition (%s) does not match the ResourceVersion in record (%s). "+
					"The object might have been modified", *p.ResourceVersion, live.GetResourceVersion()))
	}
	return nil
}
