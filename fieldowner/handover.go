package fieldowner

import (
	"encoding/json"
	"maps"

	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/ssaplan/primitives/projection"
)

// Handover is a change of the owners of an object's fields. It changes no value. The zero Handover changes nothing.
type Handover struct {
	live    map[string]any
	entries []Entry
	version string
}

// Empty reports whether no owner changes.
func (h Handover) Empty() bool { return h.live == nil }

// Object returns the object with its managedFields after the handover, nil if no owner changes. It shares unchanged
// parts with the live object.
func (h Handover) Object() map[string]any {
	if h.Empty() {
		return nil
	}
	obj, metadata := maps.Clone(h.live), map[string]any{}
	if m, ok := h.live["metadata"].(map[string]any); ok {
		metadata = maps.Clone(m)
	}
	var record []any
	text, _ := json.Marshal(recordOf(h.entries)) // what was read from JSON can be written as JSON
	_ = utiljson.Unmarshal(text, &record)
	metadata["managedFields"], obj["metadata"] = record, metadata
	return obj
}

// Patch returns the JSON patch that does the handover, nil if no owner changes. Send it as
// [k8s.io/apimachinery/pkg/types.JSONPatchType]. It replaces metadata.managedFields and contains the live object's
// resourceVersion, so a server rejects it with 409 if the object has changed.
func (h Handover) Patch() ([]byte, error) {
	if h.Empty() {
		return nil, nil
	}
	return json.Marshal([]jsonPatchOperation{
		{"replace", "/metadata/managedFields", h.record()},
		// Replacing what is there by the same is a precondition: a server answers 409 if it is something else by then,
		// and not 422 as for an operation "test".
		{"replace", "/metadata/resourceVersion", h.version},
	})
}

// record returns the entries as a server takes them. Of a custom resource without entries it would keep those of
// before, and clears them for one entry without anything.
func (h Handover) record() any {
	if len(h.entries) == 0 {
		return []any{map[string]any{}}
	}
	return recordOf(h.entries)
}

type jsonPatchOperation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value"`
}

// managedFieldsEntry is an entry in the form of metadata.managedFields.
type managedFieldsEntry struct {
	Owner
	FieldsType string              `json:"fieldsType"`
	FieldsV1   projection.FieldSet `json:"fieldsV1"`
}

func recordOf(entries []Entry) []managedFieldsEntry {
	record := make([]managedFieldsEntry, len(entries))
	for i, e := range entries {
		record[i] = managedFieldsEntry{e.Owner, "FieldsV1", e.Fields}
	}
	return record
}
