package wire

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/ssaplan/primitives/fieldowner"
	builtin "github.com/ssaplan/primitives/internal/kinds"
	"github.com/ssaplan/primitives/ssaplan/explain"
	"github.com/ssaplan/primitives/ssaplan/internal/fastjson"
	"github.com/ssaplan/primitives/ssaplan/internal/secrecy"
)

// AbsentVersion is a resourceVersion that no object has. An apply with it creates the object or fails: the server
// ignores it where nothing exists, so that a dry run answers with it, and answers 409 where something does.
const AbsentVersion = "1"

// Guarded adds to the body of an apply which object in which version it is for, or that it is for none if live is nil.
// Server-side apply never owns these two fields, so they change nothing about what is applied, unless the body is
// [Copied]: then it is returned as it is. An object or version that the manifest itself names stays.
// A live object that doesn't say which one it is, or in which version, is an error.
func Guarded(body []byte, live *unstructured.Unstructured, manager string) ([]byte, error) {
	if live != nil {
		if err := Complete(live); err != nil {
			return nil, err
		}
	}
	if Copied(body, live, manager) {
		return body, nil
	}
	guards := map[string]string{"resourceVersion": AbsentVersion}
	if live != nil {
		guards = map[string]string{"resourceVersion": live.GetResourceVersion(), "uid": string(live.GetUID())}
	}
	return withGuards(body, guards, live != nil)
}

// Copied reports whether the server copies the body of an apply into an annotation of the object, guards included: an
// apply of the field manager kubectl brings the annotation of client-side apply up to date if there is one. Source:
// lastAppliedUpdater in k8s.io/apimachinery/pkg/util/managedfields/internal.
func Copied(body []byte, live *unstructured.Unstructured, manager string) bool {
	if manager != "kubectl" {
		return false
	}
	isThere := live != nil && live.GetAnnotations()[builtin.LastApplied] != ""
	return isThere || bytes.Contains(body, []byte(builtin.LastApplied))
}

// GuardedByUID adds to the body of an apply which object it is for, in whatever version. A body that is [Copied] is
// returned as it is.
func GuardedByUID(body []byte, live *unstructured.Unstructured, manager string) ([]byte, error) {
	if err := Complete(live); err != nil {
		return nil, err
	}
	if Copied(body, live, manager) {
		return body, nil
	}
	return withGuards(body, map[string]string{"uid": string(live.GetUID())}, true)
}

// withGuards returns the body of an apply with fields of its metadata. Keep is as in [guardedMetadata].
func withGuards(body []byte, guards map[string]string, keep bool) ([]byte, error) {
	hasMetadata := false
	guarded, ok := withFields(body, func(name string, value []byte) []byte {
		if name != "metadata" {
			return value
		}
		value, hasMetadata = guardedMetadata(value, guards, keep)
		return value
	})
	switch {
	case !ok:
		return nil, errors.New("the plan's patch is not an object")
	case !hasMetadata:
		return nil, errors.New("the manifest has no metadata")
	}
	return guarded, nil
}

// guardedMetadata returns the metadata of a manifest with the guards. It keeps what the manifest itself says of an
// object that is there, which is for the server to refuse. It reports false if it isn't a map.
func guardedMetadata(metadata []byte, guards map[string]string, keep bool) ([]byte, bool) {
	kept := map[string]bool{}
	guarded, ok := withFields(metadata, func(name string, value []byte) []byte {
		if _, isGuard := guards[name]; !isGuard {
			return value
		}
		set := string(value)
		if kept[name] = keep && set != "null" && set != `""`; !kept[name] {
			return nil
		}
		return value
	})
	for _, name := range slices.Sorted(maps.Keys(guards)) {
		if quoted, err := json.Marshal(guards[name]); ok && !kept[name] && err == nil {
			guarded = appendField(guarded[:len(guarded)-1], []byte(name), quoted)
		}
	}
	return guarded, ok
}

// withFields returns a JSON object with those values of its fields that with returns for them, without those for which
// that is nil. What is in the values isn't looked at: each dry run of a set that is listed comes here. It reports false
// for what is no object.
func withFields(text []byte, with func(name string, value []byte) []byte) ([]byte, bool) {
	out := append(make([]byte, 0, len(text)+128), "{}"...)
	ok := fastjson.Fields(text, func(quoted, value []byte) bool {
		name := string(quoted)
		if strings.Contains(name, `\`) && json.Unmarshal([]byte(`"`+name+`"`), &name) != nil {
			return false
		}
		if value = with(name, value); value != nil {
			out = appendField(out[:len(out)-1], quoted, value)
		}
		return true
	})
	return out, ok
}

// appendField appends a field and the end to an object without its end.
func appendField(object, name, value []byte) []byte {
	if len(object) > 1 {
		object = append(object, ',')
	}
	object = append(append(append(object, '"'), name...), '"', ':')
	return append(append(object, value...), '}')
}

// Complete returns an error unless an object that a server answered with has what a write can be guarded by.
func Complete(obj *unstructured.Unstructured) error {
	for name, value := range map[string]string{"resourceVersion": obj.GetResourceVersion(), "uid": string(obj.GetUID())} {
		if value == "" {
			return fmt.Errorf("the answer has no metadata.%s that is a string, so nothing could be written safely: "+
				"check the proxies in front of the server", name)
		}
	}
	return nil
}

// ErrOnlyTried says that a write was answered as a dry run is: something in front of the server made it one.
var ErrOnlyTried = errors.New("the server only tried it: the answer is the one to a dry run")

// Written returns an error if an answer that says success can't be the one to a write of the live object, nil to create
// one.
func Written(live, answer *unstructured.Unstructured) error {
	switch err := Complete(answer); {
	case err != nil:
		return err
	case onlyTried(live, answer):
		return ErrOnlyTried
	case live != nil && answer.GetUID() != live.GetUID():
		return secrecy.Quoting("the answer is another object", "its uid is %q and not %q", answer.GetUID(), live.GetUID())
	}
	return nil
}

// onlyTried reports whether the answer to a write is the one to a dry run: it has the version of before and another
// content. The record of a Scale isn't compared, since no server sends one.
func onlyTried(live, answer *unstructured.Unstructured) bool {
	switch {
	case live == nil:
		return answer.GetResourceVersion() == AbsentVersion
	case answer.GetResourceVersion() != live.GetResourceVersion() || WentWith(live, answer):
		return false
	case answer.GetKind() == "Scale":
		return !explain.Equal(withoutRecord(live), withoutRecord(answer))
	}
	return !explain.Equal(live.Object, answer.Object)
}

// WentWith reports whether an object that is being deleted may have gone with the write that was answered with it, as
// it does with its last finalizer. The answer is in the version of before then.
func WentWith(live, answer *unstructured.Unstructured) bool {
	return live.GetDeletionTimestamp() != nil && len(answer.GetFinalizers()) == 0
}

// Try sends the dry run of an apply, and returns the object as the server would make it. Live is as in [Target.Apply].
func (t *Target) Try(ctx context.Context, live *unstructured.Unstructured, body []byte,
	options metav1.PatchOptions) (*unstructured.Unstructured, error) {
	obj, err := t.Apply(ctx, live, body, options, metav1.DryRunAll)
	if err == nil {
		err = tried(live, obj)
	}
	if err != nil {
		return nil, err
	}
	return obj, nil
}

// TryPinned is [Target.Try] for a live object that may be of long ago, nil if there was none. The dry run is for that
// version of it, so that the server refuses it as outdated if there is another by now; then nothing can be written even
// if something in front of the server drops dryRun. An answer in another version proves that the dry run wrote, and is
// an error. For a body that is [Copied] it only shows that live isn't of this moment, and is an error as if the server
// had refused it.
func (t *Target) TryPinned(ctx context.Context, live *unstructured.Unstructured, body []byte,
	options metav1.PatchOptions) (*unstructured.Unstructured, error) {
	pinned, err := Guarded(body, live, options.FieldManager)
	if err != nil {
		return nil, err
	}
	obj, err := t.Try(ctx, live, pinned, options)
	if err != nil {
		return nil, err
	}
	if live == nil && obj.GetResourceVersion() == AbsentVersion { // as a server ignores it, and sends it back
		return unversioned(obj), nil
	}
	if version := obj.GetResourceVersion(); live == nil && version != "" || live != nil && version != live.GetResourceVersion() {
		if Copied(body, live, options.FieldManager) {
			return nil, Outdated(t.resource.GroupResource(), obj.GetName())
		}
		return nil, wroteError(obj)
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

// Outdated returns the error with which a server refuses a request for another version of the object.
func Outdated(resource schema.GroupResource, name string) error {
	return apierrors.NewConflict(resource, name, errors.New("the object has been modified"))
}

// wroteError says that a dry run was carried out.
func wroteError(answer *unstructured.Unstructured) error {
	return secrecy.Quoting("the dry run wrote: something in front of the server drops dryRun, so nothing can be planned through it",
		"%q in resourceVersion %q", answer.GetName(), answer.GetResourceVersion())
}

// checkDryRun returns an error if a create or an update of in that was to be tried was carried out.
func checkDryRun(in, answer *unstructured.Unstructured, dryRun []string) error {
	version := answer.GetResourceVersion()
	if len(dryRun) == 0 || version == "" || version == in.GetResourceVersion() {
		return nil
	}
	return wroteError(answer)
}

// tried returns an error if the answer to a dry run can't be about the live object, nil if there was none, whichever
// version it is of: it is another object of the same version, or the live one without a version.
func tried(live, answer *unstructured.Unstructured) error {
	if live == nil {
		return nil
	}
	if uid := answer.GetUID(); answer.GetResourceVersion() == "" && uid != "" && uid != live.GetUID() {
		return nil // it would create the object, so the live one is gone
	}
	if err := Complete(answer); err != nil {
		return fmt.Errorf("dry run: %w", err)
	}
	if err := Another(live, answer); err != nil {
		return fmt.Errorf("dry run: %w", err)
	}
	return nil
}

// Another returns an error if an object has the version of one that was seen before, nil if none was, and another uid.
// That somebody re-created the object is no explanation: a server gives each version to one object.
func Another(seen, now *unstructured.Unstructured) error {
	if seen == nil || now == nil || now.GetResourceVersion() != seen.GetResourceVersion() || now.GetUID() == seen.GetUID() {
		return nil
	}
	return secrecy.Quoting("the answer is another object of the same version: check the proxies in front of the server",
		"its uid is %q and not %q", now.GetUID(), seen.GetUID())
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
			return wroteError(now)
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
		bare[i] = withoutRecord(obj)
		delete(bare[i], "status")
		delete(bare[i]["metadata"].(map[string]any), "resourceVersion")
	}
	return reflect.DeepEqual(bare[0], bare[1])
}

// withoutRecord returns a copy of an object without its managedFields. The copy is shallow but for the metadata.
func withoutRecord(obj *unstructured.Unstructured) map[string]any {
	bare := maps.Clone(obj.Object)
	metadata, _ := bare["metadata"].(map[string]any)
	metadata = maps.Clone(metadata)
	delete(metadata, "managedFields")
	bare["metadata"] = metadata
	return bare
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
	for i, entry := range recordsOf(answer) { // in their order, so that the objects are equal if the apply changes nothing
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
	return slices.DeleteFunc(slices.Clone(recordsOf(obj)), isStatusRecord)
}

func isStatusRecord(entry any) bool {
	fields, _ := entry.(map[string]any)
	return fields["subresource"] == "status"
}

// recordsOf returns the managedFields of an object.
func recordsOf(obj *unstructured.Unstructured) []any {
	value, _, _ := unstructured.NestedFieldNoCopy(obj.Object, "metadata", "managedFields")
	entries, _ := value.([]any)
	return entries
}

// recordOf returns the applier's entry in the managedFields of an object, nil if it has none.
func recordOf(obj *unstructured.Unstructured, applier fieldowner.Applier) any {
	if obj == nil {
		return nil
	}
	for _, entry := range recordsOf(obj) {
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
