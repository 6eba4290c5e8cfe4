package fieldowner

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/internal/rows"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/projection/foreign"
)

// mustPredict returns the conflicts of an apply by a manager.
func mustPredict(t testing.TB, live, manifest map[string]any, declared projection.FieldSet, manager string) []Conflict {
	t.Helper()
	conflicts, err := PredictConflicts(live, manifest, declared, Applier{Manager: manager})
	require.NoError(t, err)
	return conflicts
}

func conflictPaths(conflicts []Conflict) []string {
	var paths []string
	for _, c := range conflicts {
		paths = append(paths, c.Path.String())
	}
	return paths
}

func TestPredictConflicts(t *testing.T) {
	for _, row := range rows.Read[struct {
		Why                string
		Live, Owned        string // the object, and what "you" own of it
		Manifest, Declared string
		Conflicts          []string
	}](t, "predicted") {
		t.Run(row.Why, func(t *testing.T) {
			live := decoded(t, row.Live)
			addEntry(t, live, "you", row.Owned)
			declared, err := projection.ParseFieldsV1([]byte(row.Declared))
			require.NoError(t, err)
			conflicts := mustPredict(t, live, decoded(t, row.Manifest), declared, "me")
			assert.Equal(t, row.Conflicts, conflictPaths(conflicts))
			for _, c := range conflicts {
				assert.Equal(t, Owner{Manager: "you", Operation: OperationApply}, c.Owner)
			}
			conflicts = mustPredict(t, live, decoded(t, row.Manifest), declared, "you")
			assert.Empty(t, conflicts, "nobody conflicts with what they applied themselves")
		})
	}
}

// addEntry adds what manager applied to obj's managedFields.
func addEntry(t testing.TB, obj map[string]any, manager, fields string) {
	t.Helper()
	meta, _ := obj["metadata"].(map[string]any)
	if meta == nil {
		meta = map[string]any{}
		obj["metadata"] = meta
	}
	list, _ := meta["managedFields"].([]any)
	meta["managedFields"] = append(list, map[string]any{"manager": manager, "operation": OperationApply, "fieldsV1": decoded(t, fields)})
}

func TestPredictConflictsWithOwnUpdates(t *testing.T) {
	live := decoded(t, `{"a": 1, "metadata": {"managedFields": [
		{"manager": "me", "operation": "Update", "apiVersion": "v1", "fieldsV1": {"f:a": {}}}]}}`)
	conflicts := mustPredict(t, live, map[string]any{"a": int64(2)}, fieldSet(t, "a"), "me")
	assert.Equal(t, []Conflict{{path(t, "a"), Owner{Manager: "me", Operation: OperationUpdate, APIVersion: "v1"}}}, conflicts)
}

func TestPredictConflictsWithoutRecord(t *testing.T) {
	live := decoded(t, `{"apiVersion": "v1", "a": 1, "b": 1, "m": {"x": 1}, "l": [1], "null": null, "none": null, "podSelector": {"x": 1}}`)
	manifest := decoded(t, `{"a": 1, "b": 2, "c": 3, "m": {}, "l": [], "null": [], "none": 1, "podSelector": {}}`)
	declared := fieldSet(t, "a", "b", "c", "m", "l", "null", "none", "podSelector")
	conflicts := mustPredict(t, live, manifest, declared, "me")
	owner := Owner{Manager: BeforeFirstApply, Operation: OperationUpdate, APIVersion: "v1"}
	assert.Equal(t, []Conflict{{path(t, "b"), owner}, {path(t, "l"), owner}, {path(t, "none"), owner}, {path(t, "podSelector"), owner}},
		conflicts, "maps are structs unless they are known to be atomic, and null in the place of a list is nobody's")
}

// If no owner is recorded, an empty map that every object of a kind has causes no conflict. Neither does a null over a
// map, unless the map is atomic.
func TestPredictConflictsOfEmptyMapsWithoutRecord(t *testing.T) {
	declared := fieldSet(t, "spec.podSelector", "status")
	for _, row := range rows.Read[struct {
		Why, Live, Manifest string
		Conflicts           []string
	}](t, "emptymaps") {
		conflicts := mustPredict(t, decoded(t, row.Live), decoded(t, row.Manifest), declared, "me")
		assert.Equal(t, row.Conflicts, conflictPaths(conflicts), row.Why)
	}
}

func TestPredictConflictsOfNothing(t *testing.T) {
	conflicts := mustPredict(t, nil, decoded(t, `{"a": 1}`), fieldSet(t, "a"), "me")
	assert.Empty(t, conflicts, "an object that doesn't exist")

	_, err := PredictConflicts(decoded(t, `{"metadata": {"managedFields": [1]}}`), nil, projection.FieldSet{}, Applier{Manager: "me"})
	assert.EqualError(t, err, "fieldowner: managedFields[0]: expected a map, got int64")
}

// TestPredictConflictsForKubectl shows the leniency that a server has for the manager of that name.
func TestPredictConflictsForKubectl(t *testing.T) {
	const lastApplied = `{\"apiVersion\": \"v1\", \"a\": 1, \"b\": 7, \"d\": null}`
	text := `{"apiVersion": "v1", "a": 1, "b": 1, "c": 1, "metadata": {
		"annotations": {"kubectl.kubernetes.io/last-applied-configuration": "%s"},
		"managedFields": [{"manager": "you", "operation": "Update", "apiVersion": "v1", "fieldsV1": {"f:a": {}, "f:b": {}, "f:c": {}, "f:d": {}}}]}}`
	manifest := decoded(t, `{"a": 2, "b": 2, "c": 2, "d": 2}`)
	declared := fieldSet(t, "a", "b", "c", "d")
	for _, row := range []struct {
		manager, annotation string
		paths               string
		why                 string
	}{
		{"kubectl", lastApplied, "[b c d]", "a has the value that client-side apply gave it, b no longer, c never had, and d is gone"},
		{"me", lastApplied, "[a b c d]", "only kubectl is forgiven"},
		{"kubectl", "", "[a b c d]", "no annotation"},
		{"kubectl", "{", "[a b c d]", "an annotation that can't be read"},
		{"kubectl", `{\"apiVersion\": \"v2\", \"a\": 1}`, "[a b c d]", "an annotation of another version"},
	} {
		live := decoded(t, fmt.Sprintf(text, row.annotation))
		assert.Equal(t, row.paths, fmt.Sprint(conflictPaths(mustPredict(t, live, manifest, declared, row.manager))), row.why)
	}
}

// A server reads the annotation of client-side apply by the schema of today, and forgives nothing if it can't.
func TestPredictConflictsForKubectlAfterAFieldIsGone(t *testing.T) {
	for _, row := range rows.Read[struct {
		APIVersion, Live, Annotation, Version, Owned string
		IsForgiven                                   bool
		Why                                          string
	}](t, "gone") {
		live, applied := decoded(t, row.Live), decoded(t, row.Annotation)
		live["apiVersion"], live["a"] = row.APIVersion, int64(1)
		applied["apiVersion"], applied["a"] = row.APIVersion, int64(1)
		annotation, err := json.Marshal(applied)
		require.NoError(t, err)
		entry := func(version, fields string) any {
			return map[string]any{"manager": "you", "operation": "Update", "apiVersion": version, "fieldsV1": decoded(t, fields)}
		}
		live["metadata"] = map[string]any{
			"annotations":   map[string]any{"kubectl.kubernetes.io/last-applied-configuration": string(annotation)},
			"managedFields": []any{entry(row.Version, row.Owned)},
		}
		conflicts := mustPredict(t, live, map[string]any{"a": int64(2)}, fieldSet(t, "a"), "kubectl")
		assert.Equal(t, row.IsForgiven, len(conflicts) == 0, row.Why)
	}
}

// If no owner is recorded, a value that becomes a map causes a conflict. A null that becomes a map doesn't.
func TestPredictedConflictsOfValuesThatBecomeMaps(t *testing.T) {
	manifest, declared := decoded(t, `{"spec": {"any": {"b": 1}}}`), fieldSet(t, "spec.any.b")
	for _, row := range []struct {
		spec string
		want []string
		why  string
	}{
		{`{"any": 7}`, []string{"spec.any"}, "a number"},
		{`{}`, nil, "nothing"},
		{`{"any": "text"}`, []string{"spec.any"}, "a text"},
		{`{"any": null}`, nil, "a null"},
		{`{"any": {"c": 1}}`, nil, "a map already"},
	} {
		conflicts := mustPredict(t, map[string]any{"spec": decoded(t, row.spec)}, manifest, declared, "me")
		assert.Equal(t, row.want, conflictPaths(conflicts), row.why)
		for _, c := range conflicts {
			assert.Equal(t, foreign.Text(BeforeFirstApply), c.Owner.Manager)
		}
	}
}
