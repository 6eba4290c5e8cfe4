package precondition

import (
	"encoding/json"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/ssaplan/primitives/internal/answer"
	"github.com/ssaplan/primitives/internal/managedfields"
	"github.com/ssaplan/primitives/projection"
)

const recordPath, versionPath = "/metadata/managedFields", "/metadata/resourceVersion"

// ByRecord returns a JSON patch in which the uid and the managedFields of the live object replace the resourceVersion
// as a guard. The server refuses the patch if another manager has come to own a field since, or has written in another
// second. A write that leaves managedFields as they are is allowed, unless it changes one of the given values. If the
// object has no managedFields, the patch keeps its resourceVersion.
func ByRecord(live *unstructured.Unstructured, patch []byte, values projection.FieldSet) ([]byte, error) {
	record := managedfields.Of(live.Object)
	if len(record) == 0 {
		return patch, nil
	}
	var operations []json.RawMessage
	if err := json.Unmarshal(patch, &operations); err != nil {
		return nil, err
	}
	guarded := []any{
		map[string]any{"op": "test", "path": "/metadata/uid", "value": string(live.GetUID())},
		map[string]any{"op": "test", "path": recordPath, "value": record},
	}
	there := projection.NewObject(live.Object, values)
	for p := range values.All() {
		value, _ := there.Get(p)
		if pointer, exists := there.Pointer(p); exists {
			guarded = append(guarded, map[string]any{"op": "test", "path": pointer, "value": value})
		}
	}
	for i, path := range Paths(patch) {
		if path != versionPath {
			guarded = append(guarded, operations[i])
		}
	}
	return json.Marshal(guarded)
}

// Paths returns where the operations of a JSON patch are.
func Paths(patch []byte) (paths []string) {
	var operations []struct{ Path string }
	_ = json.Unmarshal(patch, &operations) // a server refuses what isn't one
	for _, o := range operations {
		paths = append(paths, o.Path)
	}
	return paths
}

// AsOutdated returns the error of a JSON patch. If a test in the patch failed, it returns the error of an outdated
// request instead. A server doesn't say which operation failed.
func AsOutdated(err error, patch []byte, resource schema.GroupResource, name string) error {
	isTest := func(s metav1.Status) bool {
		const text = "the server rejected our request due to an error in our request"
		return s.Reason == metav1.StatusReasonInvalid && strings.HasPrefix(s.Message, text) &&
			(s.Details == nil || len(s.Details.Causes) == 0)
	}
	if slices.Contains(Paths(patch), versionPath) || !slices.ContainsFunc(answer.Statuses(err), isTest) {
		return err
	}
	return Outdated(resource, name)
}
