package managedfields_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/internal/managedfields"
)

func object(entries ...any) map[string]any {
	return map[string]any{"apiVersion": "v1", "metadata": map[string]any{"managedFields": entries}}
}

func managers(entries []managedfields.Entry) (names []string) {
	for _, entry := range entries {
		names = append(names, string(entry.Owner.Manager))
	}
	return names
}

func all(obj map[string]any) []managedfields.Entry { return slices.Collect(managedfields.All(obj)) }

func inVersion(obj map[string]any) []managedfields.Entry {
	return slices.Collect(managedfields.InVersion(obj))
}

func TestRead(t *testing.T) {
	fields := map[string]any{"f:data": map[string]any{}}
	whole := map[string]any{"manager": "m", "operation": "Apply", "subresource": "status", "apiVersion": "v1",
		"time": "2026-01-02T03:04:05Z", "fieldsType": "FieldsV1", "fieldsV1": fields}
	entry, err := managedfields.Read(whole)
	require.NoError(t, err)
	require.Equal(t, managedfields.Entry{
		Owner:   managedfields.Owner{Manager: "m", Operation: "Apply", Subresource: "status", APIVersion: "v1"},
		Written: "2026-01-02T03:04:05Z", FieldsType: "FieldsV1", FieldsV1: fields, Whole: whole,
	}, entry)
	require.Equal(t, `"m" (Apply of status)`, fieldowner.Owner(entry.Owner).String())

	entry, err = managedfields.Read(map[string]any{"manager": 1, "operation": "Apply", "time": []any{}})
	require.EqualError(t, err, "manager: expected a string, got int", "the first one")
	require.Equal(t, "Apply", entry.Owner.Operation, "what can be read")
	_, err = managedfields.Read("x")
	require.EqualError(t, err, "expected a map, got string")
}

func TestEntriesOfAnObject(t *testing.T) {
	entry := func(manager, version any) any { return map[string]any{"manager": manager, "apiVersion": version} }
	obj := object(entry("a", "v1"), "nonsense", entry("b", "v2"), entry(5, "v1"), entry("d", "v1"))
	require.Equal(t, []string{"a", "b", "", "d"}, managers(all(obj)))
	require.Equal(t, []string{"a", "", "d"}, managers(inVersion(obj)))
	require.Len(t, managedfields.Of(obj), 5)
	for range managedfields.InVersion(obj) {
		break // stops
	}
	odd := object(entry("a", map[string]any{}), entry("b", "v1"))
	odd["apiVersion"] = map[string]any{}
	require.Equal(t, []string{"a"}, managers(inVersion(odd)), "versions that are none, and can't be compared")
}

func TestNoEntries(t *testing.T) {
	for why, row := range map[string]struct {
		obj map[string]any
		err string
	}{
		"no object":              {nil, ""},
		"no metadata":            {map[string]any{"metadata": nil}, ""},
		"no managedFields":       {map[string]any{"metadata": map[string]any{"managedFields": nil}}, ""},
		"other metadata":         {map[string]any{"metadata": "x"}, "metadata: expected a map, got string"},
		"something else instead": {map[string]any{"metadata": map[string]any{"managedFields": "x"}}, "managedFields: expected a list, got string"},
	} {
		_, err := managedfields.List(row.obj)
		if row.err != "" {
			require.EqualError(t, err, row.err, why)
		} else {
			require.NoError(t, err, why)
		}
		require.Nil(t, managedfields.Of(row.obj), why)
		require.Empty(t, all(row.obj), why)
	}
}
