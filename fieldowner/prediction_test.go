package fieldowner

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/projection/foreign"
)

func TestPredictConflicts(t *testing.T) {
	for _, row := range []struct {
		why                string
		live, owned        string // the object, and what "you" own of it
		manifest, declared string
		conflicts          []string
	}{
		{"another value", `{"a": 1}`, `{"f:a": {}}`, `{"a": 2}`, `{"f:a": {}}`, []string{"a"}},
		{"the same value", `{"a": 1}`, `{"f:a": {}}`, `{"a": 1}`, `{"f:a": {}}`, nil},
		{"numbers are compared by worth", `{"a": 1}`, `{"f:a": {}}`, `{"a": 1.0}`, `{"f:a": {}}`, nil},
		{"a number is not a text", `{"a": 1}`, `{"f:a": {}}`, `{"a": "1"}`, `{"f:a": {}}`, []string{"a"}},
		{"integers are exact", `{"a": 9007199254740993}`, `{"f:a": {}}`, `{"a": 9007199254740992}`, `{"f:a": {}}`, []string{"a"}},
		{"quantities are compared as they are written", `{"a": "1"}`, `{"f:a": {}}`, `{"a": "1000m"}`, `{"f:a": {}}`, []string{"a"}},
		{"a field that nobody owns", `{"a": 1}`, `{}`, `{"a": 2}`, `{"f:a": {}}`, nil},
		{"a field that isn't sent", `{"a": 1}`, `{"f:a": {}}`, `{}`, `{}`, nil},
		{"a field that its owner's webhook removed", `{}`, `{"f:a": {}}`, `{"a": 1}`, `{"f:a": {}}`, []string{"a"}},
		{"null over a value", `{"a": 1}`, `{"f:a": {}}`, `{"a": null}`, `{"f:a": {}}`, []string{"a"}},
		{"a part of the manifest that the server ignores", `{"status": 1}`, `{"f:status": {}}`, `{"status": 2}`, `{}`, nil},

		{"an atomic map", `{"m": {"x": 1}}`, `{"f:m": {}}`, `{"m": {"y": 1}}`, `{"f:m": {}}`, []string{"m"}},
		{"an atomic map is sent empty", `{"m": {"x": 1}}`, `{"f:m": {}}`, `{"m": {}}`, `{"f:m": {}}`, []string{"m"}},
		{"a map is sent empty that has fields", `{"m": {"x": 1}}`, `{"f:m": {"f:x": {}}}`, `{"m": {}}`, `{"f:m": {}}`, nil},
		{"a map is sent with an empty one in it, over an empty map", `{"m": {}}`, `{"f:m": {}}`,
			`{"m": {"x": {}}}`, `{"f:m": {"f:x": {}}}`, nil},
		{"an empty set comes into a map that a server filled", `{"m": {"d": 1}}`, `{"f:m": {}}`, `{"m": {"s": []}}`, `{"f:m": {}}`, nil},
		{"it comes into an atomic map", `{"selector": {}}`, `{"f:selector": {}}`, `{"selector": {"s": []}}`, `{"f:selector": {}}`, []string{"selector"}},
		{"null comes into it", `{"m": {"d": 1}}`, `{"f:m": {}}`, `{"m": {"s": null}}`, `{"f:m": {}}`, nil},
		{"an empty map in it, which would be recorded", `{"m": {"d": 1}}`, `{"f:m": {}}`, `{"m": {"x": {}}}`, `{"f:m": {}}`, []string{"m"}},
		{"an empty set comes in place of a list", `{"m": [1]}`, `{"f:m": {}}`, `{"m": {"s": []}}`, `{"f:m": {}}`, []string{"m"}},
		{"labels are never atomic", `{"metadata": {"labels": {"x": "1"}}}`, `{"f:metadata": {"f:labels": {}}}`,
			`{"metadata": {"labels": {}}}`, `{"f:metadata": {"f:labels": {}}}`, nil},
		{"the map as such has another owner", `{"m": {"x": 1}}`, `{"f:m": {".": {}}}`, `{"m": {"y": 1}}`, `{"f:m": {"f:y": {}}}`, nil},
		{"text in place of a map", `{"m": {"x": 1}}`, `{"f:m": {"f:x": {}, ".": {}}}`, `{"m": "t"}`, `{"f:m": {}}`, []string{"m"}},

		{"a map that was applied empty and is filled", `{"apiVersion": "v1", "spec": {"x": 1}}`, `{"f:spec": {}}`, `{"spec": {}}`, `{"f:spec": {}}`, nil},
		{"a map that somebody owns as a whole", `{"apiVersion": "v1", "port": {"x": 1}}`, `{"f:port": {}}`, `{"port": {}}`, `{"f:port": {}}`, []string{"port"}},
		{"one of a custom resource", `{"apiVersion": "ex.io/v1", "spec": {"x": 1}}`, `{"f:spec": {}}`, `{"spec": {}}`, `{"f:spec": {}}`, []string{"spec"}},
		{"a list in place of a map", `{"m": {"x": 1}}`, `{"f:m": {".": {}, "f:x": {}}}`, `{"m": [1]}`, `{"f:m": {}}`, []string{"m"}},
		{"a list in place of a map of which only a field is owned", `{"m": {"x": 1}}`, `{"f:m": {"f:x": {}}}`, `{"m": [1]}`, `{"f:m": {}}`, nil},
		{"a map in place of a list", `{"m": [1]}`, `{"f:m": {}}`, `{"m": {"x": 1}}`, `{"f:m": {"f:x": {}}}`, []string{"m"}},
		{"an empty map in place of a list", `{"m": [1]}`, `{"f:m": {}}`, `{"m": {}}`, `{"f:m": {}}`, []string{"m"}},
		{"an empty list in place of a map", `{"m": {"x": 1}}`, `{"f:m": {".": {}, "f:x": {}}}`, `{"m": []}`, `{"f:m": {}}`, []string{"m"}},
		{"a map that has become atomic", `{"m": {"x": 1}}`, `{"f:m": {".": {}, "f:x": {}}}`, `{"m": {"y": 2}}`, `{"f:m": {}}`, []string{"m"}},
		{"one of which only a field is owned", `{"m": {"x": 1}}`, `{"f:m": {"f:x": {}}}`, `{"m": {"y": 2}}`, `{"f:m": {}}`, []string{"m"}},
		{"one behind a field that is none", `{"a": 1, "m": {"x": 1}}`, `{"f:m": {"f:x": {}}}`, `{"a": 1, "m": {"y": 2}}`, `{"f:a": {}, "f:m": {}}`, []string{"m"}},
		{"text in place of a map of which only a field is owned", `{"m": {"x": 1}}`, `{"f:m": {"f:x": {}}}`, `{"m": "t"}`, `{"f:m": {}}`, nil},
		{"an empty list in place of such a map", `{"m": {"x": 1}}`, `{"f:m": {"f:x": {}}}`, `{"m": []}`, `{"f:m": {}}`, nil},
		{"one that stays the same", `{"m": {"x": 1}}`, `{"f:m": {"f:x": {}}}`, `{"m": {"x": 1}}`, `{"f:m": {}}`, nil},
		{"a field of a map that has become atomic changes", `{"m": {"x": 1}}`, `{"f:m": {"f:x": {}}}`, `{"m": {"x": 2}}`, `{"f:m": {}}`, []string{"m"}},
		{"one of two items with one key", `{"l": [{"k": 1, "v": 1}, {"k": 1, "v": 2}]}`, `{"f:l": {"k:{\"k\":1}": {}}}`,
			`{"l": [{"k": 1, "v": 3}]}`, `{"f:l": {"k:{\"k\":1}": {".": {}, "f:k": {}, "f:v": {}}}}`, []string{"l[k=1]"}},
		{"the first of them as it is", `{"l": [{"k": 1, "v": 1}, {"k": 1, "v": 2}]}`, `{"f:l": {"k:{\"k\":1}": {}}}`,
			`{"l": [{"k": 1, "v": 1}]}`, `{"f:l": {"k:{\"k\":1}": {".": {}, "f:k": {}, "f:v": {}}}}`, []string{"l[k=1]"}},
		{"an item beside them", `{"l": [{"k": 1}, {"k": 1}, {"k": 2, "v": 1}]}`, `{"f:l": {"k:{\"k\":1}": {}, "k:{\"k\":2}": {".": {}, "f:k": {}, "f:v": {}}}}`,
			`{"l": [{"k": 2, "v": 2}]}`, `{"f:l": {"k:{\"k\":2}": {".": {}, "f:k": {}, "f:v": {}}}}`, []string{"l[k=2].v"}},

		{"an empty list that has become atomic", `{"l": [{"k": 1}]}`, `{"f:l": {"k:{\"k\":1}": {".": {}, "f:k": {}}}}`, `{"l": []}`, `{"f:l": {}}`, []string{"l"}},
		{"an empty list of items with owners, of which nothing is recorded", `{"l": [{"k": 1}]}`, `{"f:l": {"k:{\"k\":1}": {".": {}, "f:k": {}}}}`, `{"l": []}`, `{}`, nil},
		{"null in the place of such a list", `{"l": [{"k": 1}]}`, `{"f:l": {"k:{\"k\":1}": {".": {}, "f:k": {}}}}`, `{"l": null}`, `{"f:l": {}}`, nil},
		{"an atomic list", `{"l": [1, 2]}`, `{"f:l": {}}`, `{"l": [2, 1]}`, `{"f:l": {}}`, []string{"l"}},
		{"an item, by one of its two keys", `{"l": [{"p": 80, "q": "TCP", "v": 1}]}`,
			`{"f:l": {"k:{\"p\":80,\"q\":\"TCP\"}": {".": {}, "f:p": {}, "f:v": {}}}}`,
			`{"l": [{"p": 80, "q": "UDP", "v": 1}, {"p": 80, "v": 2}]}`,
			`{"f:l": {"k:{\"p\":80,\"q\":\"TCP\"}": {"f:v": {}}, "k:{\"p\":80,\"q\":\"UDP\"}": {"f:v": {}}}}`,
			[]string{`l[p=80,q="TCP"].v`}},
		{"an item beside one that is recorded by a former key", `{"l": [{"k": 1, "w": 1}, {"k": 2, "w": 0}]}`,
			`{"f:l": {"k:{\"k\":1}": {".": {}, "f:k": {}}, "k:{\"k\":2,\"w\":0}": {".": {}, "f:k": {}, "f:w": {}}}}`,
			`{"l": [{"k": 1}]}`, `{"f:l": {"k:{\"k\":1}": {".": {}, "f:k": {}}}}`, nil},
		{"its value changes", `{"l": [{"k": 1, "v": 1}, {"k": 2, "w": 0}]}`,
			`{"f:l": {"k:{\"k\":1}": {".": {}, "f:k": {}, "f:v": {}}, "k:{\"k\":2,\"w\":0}": {".": {}, "f:k": {}, "f:w": {}}}}`,
			`{"l": [{"k": 1, "v": 2}]}`, `{"f:l": {"k:{\"k\":1}": {".": {}, "f:k": {}, "f:v": {}}}}`, []string{"l[k=1].v"}},
		{"an empty list in an item that is recorded by a former key", `{"l": [{"k": 1, "w": 1, "s": []}]}`,
			`{"f:l": {"k:{\"k\":1}": {".": {}, "f:k": {}, "f:s": {}}}}`,
			`{"l": [{"k": 1, "s": []}]}`, `{"f:l": {"k:{\"k\":1,\"w\":1}": {".": {}, "f:k": {}, "f:s": {}}}}`, nil},
		{"an element of a set", `{"s": ["x"]}`, `{"f:s": {"v:\"x\"": {}}}`, `{"s": ["y", "x"]}`, `{"f:s": {"v:\"x\"": {}, "v:\"y\"": {}}}`, nil},
		{"an item whose owner has lost everything in it", `{"l": [{"k": 1, "v": 1}]}`, `{"f:l": {"k:{\"k\":1}": {}}}`,
			`{"l": [{"k": 1, "v": 2}]}`, `{"f:l": {"k:{\"k\":1}": {".": {}, "f:k": {}, "f:v": {}}}}`, nil},
		{"an empty list over null, which nobody declares", `{"l": null}`, `{"f:l": {}}`, `{"l": []}`, `{}`, []string{"l"}},
		{"an empty map over null", `{"metadata": {"labels": null}}`, `{"f:metadata": {"f:labels": {}}}`,
			`{"metadata": {"labels": {}}}`, `{"f:metadata": {"f:labels": {}}}`, []string{"metadata.labels"}},
		{"a list of which no more is known than positions", `{"l": [1, 2]}`, `{"f:l": {"i:1": {}}}`, `{"l": [1, 3]}`,
			`{"f:l": {"i:0": {}, "i:1": {}}}`, []string{"l[1]"}},
		{"a position that isn't there", `{"l": [1]}`, `{"f:l": {"i:1": {}}}`, `{"l": [1, 3]}`,
			`{"f:l": {"i:0": {}, "i:1": {}}}`, []string{"l[1]"}},
	} {
		t.Run(row.why, func(t *testing.T) {
			live := decoded(t, row.live)
			addEntry(t, live, "you", row.owned)
			declared, err := projection.ParseFieldsV1([]byte(row.declared))
			require.NoError(t, err)
			conflicts, err := PredictConflicts(live, decoded(t, row.manifest), declared, Applier{Manager: "me"})
			require.NoError(t, err)
			var paths []string
			for _, c := range conflicts {
				paths = append(paths, c.Path.String())
				assert.Equal(t, Owner{Manager: "you", Operation: OperationApply}, c.Owner)
			}
			assert.Equal(t, row.conflicts, paths)

			conflicts, err = PredictConflicts(live, decoded(t, row.manifest), declared, Applier{Manager: "you"})
			require.NoError(t, err)
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
	conflicts, err := PredictConflicts(live, map[string]any{"a": int64(2)}, fieldSet([]string{"a"}), Applier{Manager: "me"})
	require.NoError(t, err)
	assert.Equal(t, []Conflict{{path(t, "a"), Owner{Manager: "me", Operation: OperationUpdate, APIVersion: "v1"}}}, conflicts)
}

func TestPredictConflictsWithoutRecord(t *testing.T) {
	live := decoded(t, `{"apiVersion": "v1", "a": 1, "b": 1, "m": {"x": 1}, "l": [1], "null": null, "none": null, "podSelector": {"x": 1}}`)
	manifest := decoded(t, `{"a": 1, "b": 2, "c": 3, "m": {}, "l": [], "null": [], "none": 1, "podSelector": {}}`)
	declared := fieldSet([]string{"a"}, []string{"b"}, []string{"c"}, []string{"m"}, []string{"l"}, []string{"null"}, []string{"none"}, []string{"podSelector"})
	conflicts, err := PredictConflicts(live, manifest, declared, Applier{Manager: "me"})
	require.NoError(t, err)
	owner := Owner{Manager: BeforeFirstApply, Operation: OperationUpdate, APIVersion: "v1"}
	assert.Equal(t, []Conflict{{path(t, "b"), owner}, {path(t, "l"), owner}, {path(t, "none"), owner}, {path(t, "podSelector"), owner}},
		conflicts, "maps are structs unless they are known to be atomic, and null in the place of a list is nobody's")
}

// What every object of a kind has is set by nobody, and null leaves a map as it is.
func TestPredictConflictsOfEmptyMapsWithoutRecord(t *testing.T) {
	declared := fieldSet([]string{"spec", "podSelector"}, []string{"status"})
	for _, row := range []struct {
		why, live, manifest string
		conflicts           []string
	}{
		{"an empty selector that the server made", `{"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy", "spec": {"podSelector": {}}}`,
			`{"spec": {"podSelector": {"matchLabels": {}}}}`, nil},
		{"one that somebody wrote", `{"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy", "spec": {"podSelector": {"a": 1}}}`,
			`{"spec": {"podSelector": {"matchLabels": {}}}}`, []string{"spec.podSelector"}},
		{"one that a kind need not have", `{"apiVersion": "policy/v1", "kind": "Other", "spec": {"podSelector": {}}}`,
			`{"spec": {"podSelector": {"matchLabels": {}}}}`, []string{"spec.podSelector"}},
		{"an empty list in a map, which declares the map", `{"apiVersion": "ex.io/v1", "status": {"x": 1}}`, `{"status": {"l": []}}`, nil},
		{"a null in one", `{"apiVersion": "ex.io/v1", "status": {"x": 1}}`, `{"status": {"m": {"l": null}}}`, nil},
		{"a value in one", `{"apiVersion": "ex.io/v1", "status": {"x": 1}}`, `{"status": {"l": [], "m": 1}}`, []string{"status"}},
		{"null over a map", `{"apiVersion": "ex.io/v1", "status": {"x": 1}}`, `{"status": null}`, nil},
		{"null over a list", `{"apiVersion": "ex.io/v1", "status": [1]}`, `{"status": null}`, []string{"status"}},
		{"null over a map that has one owner", `{"apiVersion": "v1", "spec": {"podSelector": {"x": 1}}}`, `{"spec": {"podSelector": null}}`, []string{"spec.podSelector"}},
	} {
		conflicts, err := PredictConflicts(decoded(t, row.live), decoded(t, row.manifest), declared, Applier{Manager: "me"})
		require.NoError(t, err)
		var paths []string
		for _, c := range conflicts {
			paths = append(paths, c.Path.String())
		}
		assert.Equal(t, row.conflicts, paths, row.why)
	}
}

func TestPredictConflictsOfNothing(t *testing.T) {
	conflicts, err := PredictConflicts(nil, decoded(t, `{"a": 1}`), fieldSet([]string{"a"}), Applier{Manager: "me"})
	require.NoError(t, err)
	assert.Empty(t, conflicts, "an object that doesn't exist")

	_, err = PredictConflicts(decoded(t, `{"metadata": {"managedFields": [1]}}`), nil, projection.FieldSet{}, Applier{Manager: "me"})
	assert.EqualError(t, err, "fieldowner: managedFields[0]: expected a map, got int64")
}

// TestPredictConflictsForKubectl shows the leniency that a server has for the manager of that name.
func TestPredictConflictsForKubectl(t *testing.T) {
	const lastApplied = `{\"apiVersion\": \"v1\", \"a\": 1, \"b\": 7, \"d\": null}`
	text := `{"apiVersion": "v1", "a": 1, "b": 1, "c": 1, "metadata": {
		"annotations": {"kubectl.kubernetes.io/last-applied-configuration": "%s"},
		"managedFields": [{"manager": "you", "operation": "Update", "apiVersion": "v1", "fieldsV1": {"f:a": {}, "f:b": {}, "f:c": {}, "f:d": {}}}]}}`
	manifest := decoded(t, `{"a": 2, "b": 2, "c": 2, "d": 2}`)
	declared := fieldSet([]string{"a"}, []string{"b"}, []string{"c"}, []string{"d"})
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
		conflicts, err := PredictConflicts(live, manifest, declared, Applier{Manager: row.manager})
		require.NoError(t, err)
		var paths []string
		for _, c := range conflicts {
			paths = append(paths, c.Path.String())
		}
		assert.Equal(t, row.paths, fmt.Sprint(paths), row.why)
	}
}

// A server reads the annotation of client-side apply by the schema of today, and forgives nothing if it can't.
func TestPredictConflictsForKubectlAfterAFieldIsGone(t *testing.T) {
	const owned = `{"f:a": {}, "f:gone": {}}`
	for _, row := range []struct {
		apiVersion, live, annotation, version, owned string
		isForgiven                                   bool
		why                                          string
	}{
		{"ex.io/v1", `{}`, `{"gone": 1}`, "ex.io/v1", owned, false, "the CRD has lost a field"},
		{"ex.io/v1", `{}`, `{"gone": {"b": 1}}`, "ex.io/v1", `{"f:a": {}, "f:gone": {"f:b": {}}}`, false, "the CRD has lost a map"},
		{"ex.io/v1", `{"l": [{"k": 1}]}`, `{"l": [{"k": 1, "v": 1}]}`, "ex.io/v1",
			`{"f:a": {}, "f:l": {"k:{\"k\":1}": {".": {}, "f:k": {}, "f:v": {}}}}`, false, "it has lost a field of items"},
		{"ex.io/v1", `{"l": [{"k": 1, "v": 2}]}`, `{"l": [{"k": 1, "v": 1}]}`, "ex.io/v1",
			`{"f:a": {}, "f:l": {"k:{\"k\":1,\"v\":1}": {".": {}, "f:k": {}, "f:v": {}}}}`, true, "an item isn't there by its key, which the list may no longer have"},
		{"ex.io/v1", `{}`, `{"gone": 1}`, "ex.io/v1", `{"f:a": {}}`, true, "a write removed the field, and its owner, too"},
		{"ex.io/v1", `{"gone": 2}`, `{"gone": 1}`, "ex.io/v1", owned, true, "the field is there"},
		{"ex.io/v1", `{}`, `{}`, "ex.io/v1", owned, true, "client-side apply didn't set it"},
		{"ex.io/v1", `{}`, `{"gone": {}}`, "ex.io/v1", owned, true, "an empty map, as in metadata, may not be stored"},
		{"ex.io/v1", `{}`, `{"gone": 1}`, "ex.io/v2", owned, true, "it is a field of another version"},
		{"v1", `{}`, `{"gone": 1}`, "v1", owned, true, "a built-in kind doesn't lose fields"},
	} {
		live, applied := decoded(t, row.live), decoded(t, row.annotation)
		live["apiVersion"], live["a"] = row.apiVersion, int64(1)
		applied["apiVersion"], applied["a"] = row.apiVersion, int64(1)
		annotation, err := json.Marshal(applied)
		require.NoError(t, err)
		entry := func(version, fields string) any {
			return map[string]any{"manager": "you", "operation": "Update", "apiVersion": version, "fieldsV1": decoded(t, fields)}
		}
		live["metadata"] = map[string]any{
			"annotations":   map[string]any{"kubectl.kubernetes.io/last-applied-configuration": string(annotation)},
			"managedFields": []any{entry(row.version, row.owned)},
		}
		conflicts, err := PredictConflicts(live, map[string]any{"a": int64(2)}, fieldSet([]string{"a"}), Applier{Manager: "kubectl"})
		require.NoError(t, err)
		assert.Equal(t, row.isForgiven, len(conflicts) == 0, row.why)
	}
}

// Where nobody is recorded, a value that becomes a map is in the way, and null isn't.
func TestPredictedConflictsOfValuesThatBecomeMaps(t *testing.T) {
	manifest := map[string]any{"spec": map[string]any{"any": map[string]any{"b": int64(1)}}}
	declared := projection.NewFieldSet(path(t, "spec.any.b"))
	type nothing struct{}
	absent := nothing{}
	for _, row := range []struct {
		was  any
		want []string
	}{
		{int64(7), []string{"spec.any"}}, {absent, nil}, {"text", []string{"spec.any"}}, {nil, nil}, {map[string]any{"c": int64(1)}, nil},
	} {
		spec := map[string]any{"any": row.was}
		if row.was == absent {
			delete(spec, "any")
		}
		conflicts, err := PredictConflicts(map[string]any{"spec": spec}, manifest, declared, Applier{Manager: "me"})
		require.NoError(t, err)
		var got []string
		for _, c := range conflicts {
			assert.Equal(t, foreign.Text(BeforeFirstApply), c.Owner.Manager)
			got = append(got, c.Path.String())
		}
		assert.Equal(t, row.want, got, "%v", row.was)
	}
}
