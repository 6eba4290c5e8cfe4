package liveobject

import (
	"maps"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/ssaplan/primitives/internal/managedfields"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/ssaplan/internal/precondition"
)

// SameButStatus reports whether nothing but the status was written between two reads of an object; false for objects
// that aren't there.
func SameButStatus(live, now *unstructured.Unstructured) bool {
	return live != nil && now != nil && sameButStatus(live, now) &&
		reflect.DeepEqual(mainRecords(live), mainRecords(now))
}

// sameButStatus reports whether two versions of an object differ in the status alone, which an apply of the object
// doesn't write and its controller does.
func sameButStatus(live, now *unstructured.Unstructured) bool {
	var bare [2]map[string]any
	for i, obj := range []*unstructured.Unstructured{live, now} {
		bare[i] = precondition.WithoutManagedFields(obj)
		delete(bare[i], "status")
		delete(bare[i]["metadata"].(map[string]any), "resourceVersion")
	}
	return reflect.DeepEqual(bare[0], bare[1])
}

// AsOfAnswer returns the live object as it was when the server answered a dry run, nil if that isn't known. It is known
// if only the status was written between two reads around the dry run: the answer has the status of that moment.
func AsOfAnswer(live, answer, now *unstructured.Unstructured) *unstructured.Unstructured {
	if !SameButStatus(live, now) {
		return nil
	}
	out := live.DeepCopy()
	out.SetResourceVersion(answer.GetResourceVersion())
	if status, exists := answer.Object["status"]; exists {
		out.Object["status"] = runtime.DeepCopyJSONValue(status)
	} else {
		delete(out.Object, "status")
	}
	records := mainRecords(out)
	// in their order, so that the objects are equal if the apply changes nothing
	for i, entry := range managedfields.Of(answer.Object) {
		if isStatusRecord(entry) {
			records = slices.Insert(records, min(i, len(records)), runtime.DeepCopyJSONValue(entry))
		}
	}
	if len(records) > 0 {
		out.Object["metadata"].(map[string]any)["managedFields"] = records
	}
	return out
}

// mainRecords returns the entries in an object's managedFields that are of the object itself and not of its status.
func mainRecords(obj *unstructured.Unstructured) []any {
	return slices.DeleteFunc(slices.Clone(managedfields.Of(obj.Object)), isStatusRecord)
}

func isStatusRecord(item any) bool {
	entry, _ := managedfields.Read(item)
	return entry.Owner.Subresource == "status"
}

// Changed returns where the values of two versions of an object differ, but for what a server changes at each write.
// Lists count as a whole.
func Changed(was, now *unstructured.Unstructured) (paths []projection.Path) {
	var compare func(at projection.Path, was, now map[string]any)
	compare = func(at projection.Path, was, now map[string]any) {
		for name := range merged(was, now) {
			p := at.Child(projection.Field(name))
			before, isMap := was[name].(map[string]any)
			after, isStill := now[name].(map[string]any)
			switch {
			case len(p) == 2 && at[0].Name() == "metadata" &&
				slices.Contains([]string{"managedFields", "resourceVersion", "generation"}, name):
			case isMap && isStill:
				compare(p, before, after)
			case !reflect.DeepEqual(was[name], now[name]):
				paths = append(paths, p)
			}
		}
	}
	compare(nil, was.Object, now.Object)
	return paths
}

func merged(a, b map[string]any) map[string]any {
	out := maps.Clone(a)
	if out == nil {
		out = map[string]any{}
	}
	maps.Copy(out, b)
	return out
}
