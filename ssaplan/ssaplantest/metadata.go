package ssaplantest

import (
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/uuid"
)

// empty returns an object that has nothing but its kind.
func empty(kind schema.GroupVersionKind) *unstructured.Unstructured {
	obj := &unstructured.Unstructured{Object: map[string]any{}}
	obj.SetGroupVersionKind(kind)
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

// omitZero removes the replicas of a scale if they are 0. The JSON form of a scale has none then.
func omitZero(scale *unstructured.Unstructured) {
	if replicas, _, err := unstructured.NestedInt64(scale.Object, "spec", "replicas"); err == nil && replicas == 0 {
		unstructured.RemoveNestedField(scale.Object, "spec", "replicas")
	}
}

// initialize gives a new object the metadata that only the server sets.
func initialize(obj *unstructured.Unstructured, kind Kind) {
	obj.SetUID(uuid.NewUUID())
	obj.SetCreationTimestamp(now())
	for _, name := range []string{"resourceVersion", "generation", "selfLink", "deletionTimestamp",
		"deletionGracePeriodSeconds"} {
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

// now is the time in the form and to the second in which objects bear it.
func now() metav1.Time { return metav1.Now().Rfc3339Copy() }
