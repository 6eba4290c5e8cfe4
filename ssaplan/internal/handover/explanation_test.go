package handover_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/ssaplan/explain"
	"github.com/ssaplan/primitives/ssaplan/internal/handover"
)

// Whole lists the fields that the handover deletes. In the changes of these fields, it names the adopted manager that
// wrote the field last. It doesn't modify the explanation of the apply.
func TestWholeNamesFormerOwners(t *testing.T) {
	const day = `"operation": "Update", "apiVersion": "v1", "time": "2026-01-0`
	live := object(t, "7", `"data": {"a": 1, "b": 2, "c": 3, "d": 4, "z": 5}, "spec": {"m": {"x": 1}}`,
		ours+`{"f:data": {"f:d": {}}}},`+
			`{"manager": "timeless", "operation": "Update", "apiVersion": "v1", "fieldsV1": {"f:data": {"f:z": {}}}},`+
			`{"manager": "one", `+day+`1T00:00:00Z", "fieldsV1": {"f:data": {".": {}, "f:a": {}, "f:b": {}, "f:c": {}}, "f:spec": {"f:m": {"f:x": {}}}}},`+
			`{"manager": "two", `+day+`2T00:00:00Z", "fieldsV1": {"f:data": {"f:b": {}, "f:c": {}}}},`+
			`{"manager": "other", `+day+`3T00:00:00Z", "fieldsV1": {"f:data": {"f:c": {}}}}`)
	h := mustFind(t, live, adopting("timeless", "one", "two"))
	change := func(text string, cause explain.Cause) explain.Change {
		return explain.Change{Difference: projection.Difference{Path: path(t, text), Op: projection.OpRemove}, Cause: cause}
	}
	apply := explain.Explanation{Changes: []explain.Change{
		change("data.a", explain.CauseDropped), change("data.b", explain.CauseDropped), change("data.c", explain.CauseDropped),
		change("data.d", explain.CauseDropped), change("spec.m", explain.CauseDropped), change("data.a", explain.CauseEdited),
		change("data.z", explain.CauseDropped),
	}}
	whole, err := h.Whole(&apply, object(t, "7", `"data": {"e": 5}`, ours+`{"f:data": {"f:e": {}}}}`).Object, nil)
	require.NoError(t, err)
	var gone []string
	for _, transfer := range whole.Ownership {
		if transfer.Kind == fieldowner.TransferDestroyed {
			gone = append(gone, transfer.Path.String())
		}
	}
	require.Equal(t, []string{"data.a", "data.b", "data.c", "data.z", "spec.m.x"}, gone, "and not the map that others have something in")
	for i, want := range []string{"one", "two", "two", "", "one", "", "timeless"} {
		require.Equal(t, want, string(whole.Changes[i].Manager), whole.Changes[i])
		require.Empty(t, apply.Changes[i].Manager)
	}
	require.Equal(t, fieldowner.OperationUpdate, whole.Changes[1].Operation)
	require.Equal(t, time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC), whole.Changes[1].Time)
	_, err = h.Whole(&apply, map[string]any{"metadata": map[string]any{"managedFields": "x"}}, nil)
	require.Error(t, err)
}

// Items are named by the keys that a definition gives them today, also where the record has those of before.
func TestWholeNamesItemsByTheirKeysOfToday(t *testing.T) {
	const (
		both  = `"spec": {"list": [{"name": "a", "size": 1}, {"name": "b", "size": 1}]`
		was   = `{"f:spec": {"f:list": {"k:{\"name\":\"a\"}": {".": {}}, "k:{\"name\":\"b\"}": {".": {}}}`
		today = ours + `{"f:spec": {"f:list": {"k:{\"name\":\"b\",\"size\":1}": {".": {}}}}}}`
		a, b  = `spec.list[name="a",size=1]`, `spec.list[name="b",size=1]`
	)
	dropped := projection.Difference{Path: path(t, a), Op: projection.OpRemove}
	for _, row := range []struct {
		why, made, record string
		wanted            handover.Wanted
		moves             []string
		former            string
	}{
		{
			"an item that is adopted, and one that goes", `"spec": {"list": [{"name": "b", "size": 1}]}`, today,
			adopting("others"),
			[]string{a + `: destroyed, was owned by "others" (Update)`, b + `: taken from "others" (Update)`}, "others",
		},
		{
			"one that is shared, beside what is cleared", both + `}`,
			today + `, ` + others + was + `}}}`, handover.Wanted{Applier: us, Clear: patterns(t, "spec.x")},
			[]string{b + `: shared with "others" (Update)`, `spec.x: destroyed, was owned by "others" (Update)`}, "",
		},
	} {
		t.Run(row.why, func(t *testing.T) {
			record := was + `}}}`
			if row.wanted.Clear != nil {
				record = was + `, "f:x": {}}}}`
			}
			h := mustFind(t, object(t, "7", both+`, "x": 1}`, others+record), row.wanted)
			apply := explain.Explanation{Changes: []explain.Change{{Difference: dropped, Cause: explain.CauseDropped}}}
			whole, err := h.Whole(&apply, object(t, "7", row.made, row.record).Object, nil)
			require.NoError(t, err)
			var moves []string
			for _, move := range whole.Ownership {
				moves = append(moves, move.String())
			}
			require.Equal(t, row.moves, moves)
			require.Equal(t, row.former, string(whole.Changes[0].Manager))
			require.False(t, whole.NoOp)
		})
	}
}
