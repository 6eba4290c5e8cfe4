package projection

import "fmt"

// Managed returns the fields that obj's metadata.managedFields record as applied by the field manager: what the
// manager declared in its last apply, exactly as the server understood it. It is empty if the manager applied nothing.
// Entries for subresources and for operations other than Apply don't count. An entry that can't be read is an error.
func Managed(obj map[string]any, manager string) (FieldSet, error) {
	metadata, _ := obj["metadata"].(map[string]any)
	entries, _ := metadata["managedFields"].([]any)
	for _, item := range entries {
		entry, _ := item.(map[string]any)
		if entry["manager"] != manager || entry["operation"] != "Apply" {
			continue
		}
		if sub, _ := entry["subresource"].(string); sub != "" {
			continue
		}
		set, err := DecodeFieldsV1(entry["fieldsV1"])
		if err != nil {
			return FieldSet{}, fmt.Errorf("projection: managedFields of %q (Apply): %w", manager, err)
		}
		return set, nil
	}
	return FieldSet{}, nil
}
