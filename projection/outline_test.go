package projection_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/ssaplan/primitives/internal/rows"
	"github.com/ssaplan/primitives/projection"
)

func TestOutline(t *testing.T) {
	const fields = `managedFields: [{manager: m, operation: Update, apiVersion: v1, fieldsV1: {"f:list": {"k:{\"name\":\"a\"}": {".": {}, "f:name": {}, "f:v": {}}},
		"f:set": {"v:\"x\"": {}}, "f:whole": {}, "f:map": {"f:a": {}}}}]`
	tests := rows.Read[struct{ Why, Object, Want string }](t, "outline")
	for _, test := range tests {
		var obj map[string]any
		text := "apiVersion: v1\nkind: K\nmetadata: {name: n, uid: u, labels: {a: b}, generation: 3, " + fields + "}\n" + test.Object
		require.NoError(t, yaml.Unmarshal([]byte(text), &obj))
		got, err := projection.Outline(obj, nil)
		require.NoError(t, err, test.Why)
		want := "apiVersion kind " + test.Want
		require.ElementsMatch(t, strings.Fields(want+" metadata.labels.a metadata.name"), strings.Fields(got.String()), test.Why)
	}
}

func TestDifferingFindsTheChangesThatOutlineDoes(t *testing.T) {
	found := 0
	for seed := range rounds {
		r := newRandom(seed)
		before := r.object(2)
		after := r.edited(before)
		known := r.fields(t, before)
		recorded := r.fields(t, before).Union(r.fields(t, after)).FieldsV1()
		for _, obj := range []map[string]any{before, after} {
			obj["metadata"] = map[string]any{"generation": int64(r.IntN(2)), "managedFields": []any{
				map[string]any{"manager": "m", "operation": "Apply", "fieldsV1": json.RawMessage(recorded)},
			}}
		}
		all, err := projection.Outline(before, after)
		require.NoError(t, err)
		some, err := projection.Differing(before, after, known)
		require.NoError(t, err)
		changes := func(set projection.FieldSet) []projection.Difference {
			set = set.Without(known.Leaves()).WithItems()
			return projection.Diff(projection.Project(before, set), projection.Project(after, set))
		}
		require.Equal(t, changes(all), changes(some), "seed %d", seed)
		found += len(changes(all))
	}
	require.Greater(t, found, rounds, "the generator must make changes")
}

func TestDifferingOfOneSide(t *testing.T) {
	less, more := map[string]any{"a": "1"}, map[string]any{"a": "1", "b": "2"}
	for _, row := range []struct {
		before, after map[string]any
		want, why     string
	}{
		{less, more, "b\n", "only something new"},
		{more, less, "b\n", "only something that is gone"},
		{more, more, "", "nothing"},
	} {
		got, err := projection.Differing(row.before, row.after, projection.FieldSet{})
		require.NoError(t, err)
		require.Equal(t, row.want, got.String(), row.why)
	}
}

func TestOutlineOfBrokenManagedFields(t *testing.T) {
	_, err := projection.Outline(map[string]any{"apiVersion": "v1", "metadata": map[string]any{"managedFields": []any{
		map[string]any{"manager": "broken", "apiVersion": "v1", "fieldsV1": map[string]any{"x:y": map[string]any{}}},
	}}})
	require.ErrorContains(t, err, "broken")
}

func TestOutlineSharesNothing(t *testing.T) {
	obj := map[string]any{"data": map[string]any{"a": "b"}}
	set, err := projection.Outline(obj)
	require.NoError(t, err)
	obj["data"].(map[string]any)["c"] = "d"
	require.Equal(t, "data.a\n", set.String())
}
