package wire

import (
	"context"
	"errors"
	"maps"
	"reflect"
	"slices"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/ssaplan/explain"
	"github.com/ssaplan/primitives/ssaplan/internal/precondition"
	"github.com/ssaplan/primitives/ssaplan/internal/secrecy"
)

// Try sends the dry run of an apply, and returns the object as the server would make it. Live is as in [Target.Apply].
func (t *Target) Try(ctx context.Context, live *unstructured.Unstructured, body []byte,
	options metav1.PatchOptions) (*unstructured.Unstructured, error) {
	obj, err := t.Apply(ctx, live, body, options, metav1.DryRunAll)
	if err == nil {
		err = precondition.Tried(live, obj)
	}
	if err != nil {
		return nil, err
	}
	return obj, nil
}

// TryPinned is [Target.Try] for a live object that may be of long ago, nil if there was none. The dry run is for that
// version of it, so that the server refuses it as outdated if there is another by now; then nothing can be written even
// if something in front of the server drops dryRun. An answer in another version proves that the dry run wrote, and is
// an error. For a body that is [precondition.Copied] it only shows that live isn't of this moment, and is an error as
// if the server had refused it.
func (t *Target) TryPinned(ctx context.Context, live *unstructured.Unstructured, body []byte,
	options metav1.PatchOptions) (*unstructured.Unstructured, error) {
	pinned, err := precondition.Guarded(body, live, options.FieldManager)
	if err != nil {
		return nil, err
	}
	obj, err := t.Try(ctx, live, pinned, options)
	if err != nil {
		return nil, err
	}
	if live == nil && obj.GetResourceVersion() == precondition.AbsentVersion { // as a server ignores it, and sends it back
		return unversioned(obj), nil
	}
	if version := obj.GetResourceVersion(); live == nil && version != "" || live != nil && version != live.GetResourceVersion() {
		if precondition.Copied(body, live, options.FieldManager) {
			return nil, precondition.Outdated(t.resource.GroupResource(), obj.GetName())
		}
		return nil, precondition.DryRunWrote(obj)
	}
	return obj, nil
}

// unversioned returns an object without its resourceVersion. The object itself isn't modified.
func unversioned(obj *unstructured.Unstructured) *unstructured.Unstructured {
	content := maps.Clone(obj.Object)
	if metadata, ok := content["metadata"].(map[string]any); ok {
		metadata = maps.Clone(metadata)
		delete(metadata, "resourceVersion")
		content["metadata"] = metadata
	}
	return &unstructured.Unstructured{Object: content}
}

// Relook returns the object as it is after a dry run whose answer is of another version than the live object, nil if
// there was none, that was read right before. Between the two somebody else may have written. But if the object is now
// just what the dry run of the body was to try, the dry run wrote it, unless the server says that it gets the dryRun of
// such requests: then another run of the same program did. If it is older than what was seen of it, it comes from a
// cache. Both are errors.
func (t *Target) Relook(ctx context.Context, live, answer *unstructured.Unstructured, body []byte,
	options metav1.PatchOptions) (*unstructured.Unstructured, error) {
	now, err := t.Live(ctx)
	if err == nil {
		err = t.Verify(ctx, live, answer, now, body, options)
	}
	if err == nil && older(now, answer) {
		err = fromCache(answer, now)
	}
	if err != nil {
		return nil, err
	}
	return now, nil
}

// Verify is what [Target.Relook] does with what it has read, which may be of before the answer here.
func (t *Target) Verify(ctx context.Context, live, answer, now *unstructured.Unstructured, body []byte,
	options metav1.PatchOptions) error {
	if now == nil {
		return nil
	}
	if wrote(live, answer, now, fieldowner.Applier{Manager: options.FieldManager, Subresource: t.subresource}) {
		switch err := t.ask(ctx, t.server.Resource(t.kind, t.object), body, options); {
		case errors.Is(err, errDropped):
			return precondition.DryRunWrote(now)
		case err != nil:
			return secrecy.Quoting("the dry run wrote, or another client wrote the same at that moment: the object has the values that it tried, and "+
				"the server may not receive dryRun", "resourceVersion %q", now.GetResourceVersion())
		}
	}
	for _, then := range []*unstructured.Unstructured{answer, now} {
		if older(then, live) {
			return fromCache(live, then)
		}
	}
	return nil
}

// fromCache says that the server's second answer is older than the first.
func fromCache(first, then *unstructured.Unstructured) error {
	return secrecy.Quoting("the second of the server's answers is the older one: something in front of the server answers from a cache",
		"resourceVersion %q and then %q", first.GetResourceVersion(), then.GetResourceVersion())
}

// wrote reports whether the object has by now what a dry run of the applier answered, and didn't have it before: all of
// it, or the record of the apply, as controllers change an object as soon as it is written.
func wrote(live, answer, now *unstructured.Unstructured, applier fieldowner.Applier) bool {
	before, tried, after := recordOf(live, applier), recordOf(answer, applier), recordOf(now, applier)
	if explain.Equal(now.Object, answer.Object) {
		return before == nil || !reflect.DeepEqual(before, tried) || !sameButStatus(live, answer)
	}
	return tried != nil && !reflect.DeepEqual(before, tried) && reflect.DeepEqual(tried, after)
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

// AsOfAnswer returns the live object as it was when the server answered a dry run, nil if that isn't known. It is
// known if nothing but the status was written between two reads around the dry run: then the answer, which has the
// status of that moment, tells.
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
	for i, entry := range precondition.ManagedFields(answer) { // in their order, so that the objects are equal if the apply changes nothing
		if isStatusRecord(entry) {
			records = slices.Insert(records, min(i, len(records)), runtime.DeepCopyJSONValue(entry))
		}
	}
	if len(records) > 0 {
		out.Object["metadata"].(map[string]any)["managedFields"] = records
	}
	return out
}

// SameButStatus reports whether nothing but the status was written between two reads of an object; false for objects
// that aren't there.
func SameButStatus(live, now *unstructured.Unstructured) bool {
	return live != nil && now != nil && sameButStatus(live, now) && reflect.DeepEqual(mainRecords(live), mainRecords(now))
}

// mainRecords returns the entries in an object's managedFields that are of the object itself and not of its status.
func mainRecords(obj *unstructured.Unstructured) []any {
	return slices.DeleteFunc(slices.Clone(precondition.ManagedFields(obj)), isStatusRecord)
}

func isStatusRecord(entry any) bool {
	fields, _ := entry.(map[string]any)
	return fields["subresource"] == "status"
}

// recordOf returns the applier's entry in the managedFields of an object, nil if it has none.
func recordOf(obj *unstructured.Unstructured, applier fieldowner.Applier) any {
	if obj == nil {
		return nil
	}
	for _, entry := range precondition.ManagedFields(obj) {
		fields, _ := entry.(map[string]any)
		subresource, _ := fields["subresource"].(string)
		isApply := fields["operation"] == fieldowner.OperationApply
		if fields["manager"] == applier.Manager && isApply && subresource == applier.Subresource {
			return entry
		}
	}
	return nil
}

// older reports whether a is certainly an earlier version of the object that b is.
func older(a, b *unstructured.Unstructured) bool {
	if a == nil || b == nil || a.GetUID() != b.GetUID() {
		return false
	}
	versionA, errA := strconv.ParseUint(a.GetResourceVersion(), 10, 64)
	versionB, errB := strconv.ParseUint(b.GetResourceVersion(), 10, 64)
	return errA == nil && errB == nil && versionA < versionB
}
