package handover_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/ssaplan/internal/handover"
)

const (
	ours   = `{"manager": "us", "operation": "Apply", "apiVersion": "v1", "fieldsV1": `
	theirs = `{"manager": "kubectl-client-side-apply", "operation": "Update", "apiVersion": "v1", "fieldsV1": `
	status = `{"manager": "kubectl-client-side-apply", "operation": "Update", "subresource": "status", "apiVersion": "v1", "fieldsV1": `
	others = `{"manager": "others", "operation": "Update", "apiVersion": "v1", "fieldsV1": `
)

// object decodes an object in a version, with a record.
func object(t *testing.T, version, fields, record string) *unstructured.Unstructured {
	t.Helper()
	return &unstructured.Unstructured{Object: decoded(t, `{"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "x", "uid": "u", "resourceVersion": "`+version+
		`", "managedFields": [`+record+`]}, `+fields+`}`)}
}

// decoded returns what JSON has.
func decoded(t *testing.T, text string) map[string]any {
	t.Helper()
	var out map[string]any
	require.NoError(t, utiljson.Unmarshal([]byte(text), &out), text)
	return out
}

func patterns(t *testing.T, texts ...string) projection.Patterns {
	t.Helper()
	out, err := projection.ParsePatterns(texts...)
	require.NoError(t, err)
	return out
}

func path(t *testing.T, text string) projection.Path {
	t.Helper()
	out, err := projection.ParsePath(text)
	require.NoError(t, err)
	return out
}

var us = fieldowner.Applier{Manager: "us"}

// allowed is a server that lets fields change owners.
func allowed(h *handover.Handover) func([]byte) (*unstructured.Unstructured, error) {
	return func([]byte) (*unstructured.Unstructured, error) { return h.Of(nil), nil }
}

// answers is a request to which a server answers with an object.
func answers(obj *unstructured.Unstructured) func([]byte) (*unstructured.Unstructured, error) {
	return func([]byte) (*unstructured.Unstructured, error) { return obj, nil }
}

// refuses is a request that a server refuses.
func refuses(err error) func([]byte) (*unstructured.Unstructured, error) {
	return func([]byte) (*unstructured.Unstructured, error) { return nil, err }
}

// creates is a request in which a server creates an object.
func creates(obj *unstructured.Unstructured) func(map[string]any) (*unstructured.Unstructured, error) {
	return func(map[string]any) (*unstructured.Unstructured, error) { return obj, nil }
}

// invalid is why a server refuses a Widget.
var invalid = apierrors.NewInvalid(schema.GroupKind{Kind: "Widget"}, "x", nil)

// specOf returns the spec that a JSON patch sets after it has named the version.
func specOf(t *testing.T, patch []byte) string {
	t.Helper()
	var operations []struct{ Value any }
	require.NoError(t, json.Unmarshal(patch, &operations))
	require.Len(t, operations, 2)
	return textOf(t, operations[1].Value)
}

func textOf(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	require.NoError(t, err)
	return string(text)
}

func adopting(names ...string) handover.Wanted { return handover.Wanted{Applier: us, Adopt: names} }

func mustFind(t *testing.T, live *unstructured.Unstructured, wanted handover.Wanted) *handover.Handover {
	t.Helper()
	h, err := handover.Find(live, wanted)
	require.NoError(t, err)
	return h
}

// owners are the lines of a record: who owns which fields.
func owners(t *testing.T, obj map[string]any) (out []string) {
	t.Helper()
	all, err := fieldowner.Read(obj)
	require.NoError(t, err)
	for _, e := range all.Entries() {
		for p := range e.Fields.All() {
			out = append(out, e.Owner.String()+" "+p.String())
		}
	}
	return out
}

func TestFind(t *testing.T) {
	record := theirs + `{"f:data": {"f:a": {}}}}, ` + status + `{"f:status": {}}}, ` + ours + `{"f:data": {"f:b": {}}}}`
	live := object(t, "7", `"data": {"a": 1, "b": 2}`, record)
	for _, row := range []struct {
		why    string
		wanted handover.Wanted
		want   []string // nil if nothing changes owners
	}{
		{"by name", adopting("kubectl-client-side-apply"), []string{`"kubectl-client-side-apply" (Update of status) status`, `"us" (Apply) data.a`, `"us" (Apply) data.b`}},
		{"as a tool", handover.Wanted{Applier: us, Tools: fieldowner.Tools()}, []string{`"kubectl-client-side-apply" (Update of status) status`, `"us" (Apply) data.a`, `"us" (Apply) data.b`}},
		{"one's own name", adopting("us"), nil},
		{"nobody of that name", adopting("helm"), nil},
		{"given up", handover.Wanted{Applier: us, GiveUp: patterns(t, "data.b")}, []string{`"kubectl-client-side-apply" (Update) data.a`, `"kubectl-client-side-apply" (Update of status) status`}},
		{"given up what others own", handover.Wanted{Applier: us, GiveUp: patterns(t, "data.a")}, nil},
		{
			"taken over and given up", handover.Wanted{Applier: us, Adopt: []string{"kubectl-client-side-apply"}, GiveUp: patterns(t, "data.a")},
			[]string{`"kubectl-client-side-apply" (Update of status) status`, `"us" (Apply) data.b`},
		},
	} {
		t.Run(row.why, func(t *testing.T) {
			h := mustFind(t, live, row.wanted)
			require.Equal(t, row.want == nil, h == nil)
			if h != nil {
				require.Equal(t, row.want, owners(t, h.Of(live).Object))
			} else {
				require.Same(t, live, h.Of(live))
			}
		})
	}
}

// The adopted fields have another time than the applier's last apply. After the handover, managedFields keep the time
// of that apply. Otherwise it would seem that another tool applies under the applier's name. An applier that never
// applied gets the time of the adopted entry.
func TestFindKeepsTheTimeOfTheApply(t *testing.T) {
	timed := func(record, at string) string {
		return strings.Replace(record, `"apiVersion"`, `"time": "2026-01-01T00:00:0`+at+`Z", "apiVersion"`, 1)
	}
	const fields = `{"f:data": {"f:a": {}}}}`
	for want, record := range map[string]string{
		"2026-01-01T00:00:01Z": timed(ours, "1") + fields + ", " + timed(theirs, "2") + fields,
		"2026-01-01T00:00:02Z": timed(theirs, "2") + fields, // of who never applied
	} {
		h := mustFind(t, object(t, "7", `"data": {"a": 1}`, record), adopting("kubectl-client-side-apply"))
		all, err := fieldowner.Read(h.Object())
		require.NoError(t, err)
		require.Len(t, all.Entries(), 1)
		require.Equal(t, want, all.Entries()[0].Time.UTC().Format(time.RFC3339))
	}
}

func TestFindErrors(t *testing.T) {
	live := object(t, "7", `"data": {"a": 1}`, ours+`{"f:data": {"f:a": {}}}}`)
	_, err := handover.Find(live, handover.Wanted{Applier: us, GiveUp: patterns(t, "data")})
	require.ErrorContains(t, err, "no manager would own a field")
	_, err = handover.Find(live, handover.Wanted{Applier: fieldowner.Applier{Manager: "us", Subresource: "status"}, Adopt: []string{"x"}})
	require.EqualError(t, err, "fields can only be adopted or given up in the object itself, not in its status")
	_, err = handover.Find(object(t, "", `"data": {}`, ""), adopting("x"))
	require.ErrorContains(t, err, "resourceVersion")
	_, err = handover.Find(object(t, "7", `"data": {}`, "1"), adopting("x"))
	require.ErrorContains(t, err, "managedFields[0]")
}
