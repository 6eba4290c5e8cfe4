package explain_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

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
	remembered := func(record string) *explain.State {
		return restored(t, mustNewState(t, manifest, configMap(record, "{a: A, b: B}"), "me", nil))
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
			e := mustApply(t, in)
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

// What is written within the second of the remembered apply has the time of that. Only what nothing but another apply
// leaves counts.
func TestRivalWithinASecond(t *testing.T) {
	entry := func(manager, fields, more string) string {
		return `{manager: ` + manager + `, operation: Apply, apiVersion: v1, time: "2026-01-01T00:00:00Z", fieldsType: FieldsV1, fieldsV1: ` + fields + more + `}`
	}
	const fields = `{"f:spec": {"f:a": {}, "f:b": {}, "f:m": {}}, "f:metadata": {"f:labels": {"f:l": {}}}}`
	theirs := entry("you", `{"f:spec": {"f:t": {}}}`, "")
	live := func(version, apiVersion, record, spec, label string) map[string]any {
		return object(t, `{apiVersion: `+apiVersion+`, kind: Thing, metadata: {name: a, uid: u, resourceVersion: "`+version+`", generation: `+version+`, labels: {l: `+label+`},
			managedFields: [`+record+`]}, spec: `+spec+`}`)
	}
	const was, sent = "{a: A, b: bb, m: {}, t: T}", "{apiVersion: v1, kind: Thing, metadata: {name: a, labels: {l: L}}, spec: {a: A, b: B, m: {}}}"
	first := live("1", "v1", entry("me", fields, "")+","+theirs, was, "L")
	state := func(manifest map[string]any) *explain.State { return mustNewState(t, manifest, first, "me", nil) }
	ours := entry("me", fields, "")
	more := entry("me", `{"f:spec": {"f:a": {}, "f:b": {}, "f:m": {}, "f:n": {}}, "f:metadata": {"f:labels": {"f:l": {}}}}`, "")
	known := state(object(t, sent))
	for _, row := range []struct {
		why   string
		prior *explain.State
		live  map[string]any
		want  string
	}{
		{"another value", known, live("2", "v1", ours+","+theirs, "{a: X, b: bb, m: {}, t: T}", "L"), "spec.a"},
		{"another label", known, live("2", "v1", ours+","+theirs, was, "X"), "metadata.labels.l"},
		{"another field", known, live("2", "v1", more+","+theirs, "{a: A, b: bb, m: {}, t: T, n: N}", "L"), "spec.n"},
		{"the records of others in another order", known, live("2", "v1", theirs+","+more, "{a: A, b: bb, m: {}, t: T, n: N}", "L"), "spec.n"},
		{"a controller's status beside it", known, live("2", "v1", more+","+theirs+","+entry("controller", "{}", ", subresource: status"), was, "L"), "spec.n"},
		{"a value that isn't what was sent", known, live("2", "v1", ours+","+theirs, "{a: A, b: cc, m: {}, t: T}", "L"), ""},
		{"a map that was filled", known, live("2", "v1", ours+","+theirs, "{a: A, b: bb, m: {x: y}, t: T}", "L"), ""},
		{"a map that a record has as a whole by now", known, live("2", "v1", entry("me", `{"f:spec": {}, "f:metadata": {"f:labels": {}}}`, "")+","+theirs, was, "X"), ""},
		{"a field that is gone", known, live("2", "v1", entry("me", `{"f:spec": {"f:a": {}}}`, "")+","+theirs, "{a: A, t: T}", "L"), ""},
		{"a value that is no longer ours", known, live("2", "v1", entry("me", `{"f:spec": {"f:b": {}}}`, "")+","+theirs, "{a: X, b: bb, t: T}", "L"), ""},
		{"nothing was written", known, live("1", "v1", more+","+theirs, "{a: X}", "X"), ""},
		{"others wrote", known, live("2", "v1", more+","+entry("you", `{"f:spec": {"f:u": {}}}`, ""), "{a: X}", "X"), ""},
		{"others are gone", known, live("2", "v1", more, "{a: X}", "X"), ""},
		{"another version of the kind", known, live("2", "v2", more+","+theirs, "{a: X}", "X"), ""},
		{"what is left to others", known.Without(live("1", "v1", more+","+theirs, "{a: a}", "L"), fieldsOf(t, "spec.n", "spec.a")), live("2", "v1", more+","+theirs, "{a: X, b: bb, m: {}, t: T, n: N}", "L"), ""},
		{"what was sent isn't known", state(nil), live("2", "v1", more+","+theirs, "{a: X}", "X"), ""},
		{"of a subresource nothing is known", func() *explain.State { s := *known; s.Subresource = "status"; return &s }(), live("2", "v1", more+","+theirs, "{a: X}", "X"), ""},
	} {
		t.Run(row.why, func(t *testing.T) {
			for _, prior := range []*explain.State{row.prior, restored(t, row.prior)} {
				rival := explain.RivalOf(&unstructured.Unstructured{Object: row.live}, prior)
				if row.want == "" {
					require.Nil(t, rival)
					continue
				}
				require.NotNil(t, rival)
				require.Equal(t, row.want, projection.JoinPaths(rival.Paths))
			}
		})
	}
	t.Run("a list that became one whole has defaults in it", func(t *testing.T) {
		const spec = "{l: [{name: x, weight: 1}]}"
		made := live("1", "v1", entry("me", `{"f:spec": {"f:l": {"k:{\"name\":\"x\"}": {".": {}, "f:name": {}}}}}`, ""), spec, "L")
		prior := mustNewState(t, object(t, "{apiVersion: v1, kind: Thing, metadata: {name: a}, spec: {l: [{name: x}]}}"), made, "me", nil)
		require.Nil(t, explain.RivalOf(&unstructured.Unstructured{Object: live("2", "v1", entry("me", `{"f:spec": {"f:l": {}}}`, ""), spec, "L")}, prior))
	})
	t.Run("it is read otherwise", func(t *testing.T) { // as after a change of a conversion, and a rewrite of what is stored
		now := live("2", "v1", ours+","+theirs, "{a: X, b: bb, m: {}, t: T}", "L")
		now["metadata"].(map[string]any)["generation"] = int64(1)
		require.Nil(t, explain.RivalOf(&unstructured.Unstructured{Object: now}, known))
	})
}

func fieldsOf(t *testing.T, texts ...string) projection.FieldSet {
	t.Helper()
	var paths []projection.Path
	for _, text := range texts {
		paths = append(paths, path(t, text))
	}
	return projection.NewFieldSet(paths...)
}

func TestTextOfRival(t *testing.T) {
	r := explain.Rival{Time: time.Unix(0, 0), Paths: []projection.Path{path(t, "data.a"), path(t, "data.b")}}
	require.Equal(t, "another tool applies under the same field manager, last at 1970-01-01T00:00:00Z, or that apply was not recorded: "+
		"these fields differ from the recorded ones: data.a, data.b", r.String())
}
