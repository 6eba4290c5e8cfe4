package explain_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/ssaplan/explain"
)

// TestMapsOfNewerServers checks the change of an atomic map in a field that only newer servers have. This library
// doesn't know that the map is atomic, and still explains the change of the whole map.
func TestMapsOfNewerServers(t *testing.T) {
	object := func(version string, content map[string]any) map[string]any {
		return map[string]any{
			"apiVersion": "v1", "kind": "Pod", "spec": map[string]any{"newMap": content},
			"metadata": map[string]any{"name": "a", "uid": "u", "resourceVersion": "1", "managedFields": []any{
				map[string]any{"manager": "me", "operation": "Apply", "apiVersion": "v1", "time": version, "fieldsType": "FieldsV1",
					"fieldsV1": map[string]any{"f:spec": map[string]any{"f:newMap": map[string]any{}}}},
			}},
		}
	}
	content := map[string]any{"x": "new"}
	live, answer := object("2026-01-01T00:00:00Z", map[string]any{"x": "old", "y": "gone"}), object("2026-01-02T00:00:00Z", content)
	manifest := map[string]any{"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"name": "a"}, "spec": map[string]any{"newMap": content}}
	e := mustApply(t, explain.Input{Manifest: manifest, Live: live, Answer: answer, Manager: "me"})
	require.Len(t, e.Changes, 1)
	require.Equal(t, explain.CauseEdited, e.Changes[0].Cause)
	require.Equal(t, "spec.newMap", e.Changes[0].Path.String())
	require.Equal(t, map[string]any{"x": "old", "y": "gone"}, e.Changes[0].Before)
	require.Equal(t, content, e.Changes[0].After)
}
