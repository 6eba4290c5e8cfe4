package explain_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/projection/foreign"
	"github.com/ssaplan/primitives/ssaplan/explain"
)

// A rival is who applied under the manager's name after what is remembered, and to another effect.
func TestRival(t *testing.T) {
	const ours = `{manager: me, operation: Apply, apiVersion: v1, time: "2026-01-01T00:00:00Z", fieldsType: FieldsV1, fieldsV1: {"f:data": {"f:a": {}, "f:b": {}}}}`
	manifest := object(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {a: A, b: B}}`)
	configMap := func(record, data string) map[string]any {
		return object(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: a, uid: u, resourceVersion: "1", managedFields: [`+record+`]}, data: `+data+`}`)
	}
	me := fieldowner.Applier{Manager: "me"}
	remembered := func(record string) *explain.State {
		state, err := explain.NewState(manifest, configMap(record, "{a: A, b: B}"), me, nil)
		require.NoError(t, err)
		text, err := json.Marshal(state)
		require.NoError(t, err)
		var read explain.State
		require.NoError(t, json.Unmarshal(text, &read))
		return &read
	}
	const later = `{manager: me, operation: Apply, apiVersion: v1, time: "2026-01-01T00:00:09Z", fieldsType: FieldsV1, fieldsV1: {"f:data": `
	other := func(*explain.State) {}
	for _, row := range []struct {
		why          string
		record, data string
		state        func(*explain.State)
		without      bool
		want         string
	}{
		{why: "nobody", record: ours, data: "{a: A, b: B}"},
		{why: "no state", record: later + `{"f:a": {}, "f:b": {}}}}`, data: "{a: X, b: B}", without: true},
		{why: "another value", record: later + `{"f:a": {}, "f:b": {}}}}`, data: "{a: X, b: B}", want: "data.a"},
		{why: "another field, and one less", record: later + `{"f:a": {}, "f:c": {}}}}`, data: "{a: A, c: C}", want: "data.b, data.c"},
		{why: "the same values", record: later + `{"f:a": {}, "f:b": {}}}}`, data: "{a: A, b: B}"},
		{
			why:    "what others took isn't disputed",
			record: later + `{"f:b": {}}}}, {manager: you, operation: Update, apiVersion: v1, fieldsType: FieldsV1, fieldsV1: {"f:data": {"f:a": {}}}}`,
			data:   "{a: X, b: Y}", want: "data.b",
		},
		{why: "an edit of others", record: `{manager: you, operation: Update, apiVersion: v1, time: "2026-01-01T00:00:09Z", fieldsType: FieldsV1, fieldsV1: {"f:data": {"f:a": {}}}}, ` + ours, data: "{a: X, b: B}"},
		{why: "within a second", record: ours, data: "{a: X, b: B}"},
		{why: "an older object", record: `{manager: me, operation: Apply, apiVersion: v1, time: "2025-01-01T00:00:00Z", fieldsType: FieldsV1, fieldsV1: {"f:data": {"f:a": {}}}}`, data: "{a: X}"},
		{why: "no time", record: `{manager: me, operation: Apply, apiVersion: v1, fieldsType: FieldsV1, fieldsV1: {"f:data": {"f:a": {}}}}`, data: "{a: X}"},
		{why: "no record", data: "{a: X}"},
		{why: "another object", record: later + `{"f:a": {}}}}`, data: "{a: X}", state: func(s *explain.State) { s.UID = "v" }},
		{why: "another manager's state", record: later + `{"f:a": {}}}}`, data: "{a: X}", state: func(s *explain.State) { s.Manager = "you" }},
	} {
		t.Run(row.why, func(t *testing.T) {
			live := configMap(row.record, row.data)
			in := explain.Input{Manager: "me", Manifest: manifest, Live: live, Answer: live, Prior: remembered(ours)}
			if row.state == nil {
				row.state = other
			}
			row.state(in.Prior)
			if row.without {
				in.Prior = nil
			}
			e, err := explain.Apply(in)
			require.NoError(t, err)
			known := explain.Known(e, in)
			require.Equal(t, e.Rival, known.Rival)
			if row.want == "" {
				require.Nil(t, e.Rival)
				return
			}
			require.Equal(t, row.want, projection.JoinPaths(e.Rival.Paths))
			require.Equal(t, time.Date(2026, 1, 1, 0, 0, 9, 0, time.UTC), e.Rival.Time.UTC())
			require.Contains(t, e.Warnings, foreign.Text("v1/ConfigMap a: "+e.Rival.String()))
			require.Contains(t, known.Warnings, foreign.Text("v1/ConfigMap a: "+e.Rival.String()))
		})
	}
	in := explain.Input{Manager: "me", Live: configMap(later+`"x"}}`, "{}"), Prior: remembered(ours)}
	require.Nil(t, explain.Known(&explain.Explanation{}, in).Rival, "a record that can't be read")
	in = explain.Input{Manager: "me", Live: configMap(later+`{"f:a": {}}}}`, "{}"), Prior: remembered(later + `{"f:a": {}}}}`)}
	require.Nil(t, explain.Known(&explain.Explanation{}, in).Rival, "what is remembered")
}

func TestTextOfRival(t *testing.T) {
	r := explain.Rival{Time: time.Unix(0, 0), Paths: []projection.Path{path(t, "data.a"), path(t, "data.b")}}
	require.Equal(t, "another tool applies under the same field manager, last at 1970-01-01T00:00:00Z, or that apply was not remembered: "+
		"it made other than what is remembered of data.a, data.b", r.String())
}
