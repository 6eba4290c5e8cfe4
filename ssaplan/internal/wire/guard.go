package wire

import (
	"errors"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/json"
)

// absentVersion is a resourceVersion that no object has. An apply with it creates the object or fails: the server
// ignores it where nothing exists, and answers 409 where something does.
const absentVersion = "1"

// Guarded adds to the body of an apply which object in which version it is for, or that it is for none if live is nil.
// Server-side apply never owns these two fields, so they change nothing about what is applied.
func Guarded(body []byte, live *unstructured.Unstructured) ([]byte, error) {
	var content map[string]any
	if json.Unmarshal(body, &content) != nil {
		return nil, errors.New("the plan's patch is not an object")
	}
	metadata, _ := content["metadata"].(map[string]any)
	if metadata == nil {
		return nil, errors.New("the manifest has no metadata")
	}
	metadata["resourceVersion"] = absentVersion
	if live != nil {
		metadata["resourceVersion"] = live.GetResourceVersion()
		metadata["uid"] = string(live.GetUID())
	}
	return json.Marshal(content)
}
