package explain_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/ssaplan/explain"
)

// The writers of an object are those of the answer, and the same when a no-op is remembered.
func TestWriters(t *testing.T) {
	live := object(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: a, resourceVersion: "1", managedFields: [
		{manager: me, operation: Apply, apiVersion: v1, fieldsType: FieldsV1, fieldsV1: {"f:data": {"f:a": {}}}},
		{manager: helm, operation: Update, apiVersion: v1, fieldsType: FieldsV1, fieldsV1: {"f:data": {"f:a": {}, "f:b": {}, "f:c": {}}}},
		{manager: ours, operation: Update, apiVersion: v1, fieldsType: FieldsV1, fieldsV1: {"f:data": {"f:d": {}}}},
		{manager: other, operation: Update, apiVersion: v1, fieldsType: FieldsV1, fieldsV1: {"f:data": {"f:e": {}}}}]},
		data: {a: A, b: B, c: C, d: D, e: E}}`)
	ours := []fieldowner.Tool{{Name: "ours", Manager: "ours"}}
	left := func(text string) []explain.IgnoredField {
		return []explain.IgnoredField{{Path: path(t, text), Handling: explain.HandlingOmitted}}
	}
	for _, row := range []struct {
		why  string
		in   explain.Input
		want []string
	}{
		{"of known tools", explain.Input{}, []string{"Helm 3 data.b data.c"}},
		{"of the host's, too", explain.Input{Tools: ours}, []string{"Helm 3 data.b data.c", "ours data.d"}},
		{"not what is left to others", explain.Input{Ignored: left("data.b")}, []string{"Helm 3 data.c"}},
		{"not in what is left to others", explain.Input{Ignored: left("data")}, []string{"Helm 3"}},
		{"not of who applies a subresource", explain.Input{Subresource: "status"}, nil},
		{"of a manager's own updates", explain.Input{Manager: "helm"}, []string{"Helm 3 data.b data.c"}},
	} {
		t.Run(row.why, func(t *testing.T) {
			in := row.in
			if in.Manager == "" {
				in.Manager = "me"
			}
			in.Manifest, in.Live, in.Answer = object(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {a: A}}`), live, live
			e := mustApply(t, in)
			require.Equal(t, row.want, texts(e.Writers))
			known := explain.Known(e, in)
			require.Equal(t, row.want, texts(known.Writers))
			require.Equal(t, e.Writers, known.Writers)
		})
	}
	e := mustApply(t, explain.Input{Manager: "me", Manifest: live, Answer: live})
	require.Empty(t, e.Writers, "nobody wrote to what is created")
	broken := object(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: a, managedFields: [{manager: helm, operation: Update, fieldsV1: {x: {}}}]}}`)
	require.Empty(t, explain.Known(&explain.Explanation{}, explain.Input{Manager: "me", Live: broken}).Writers)
	broken = object(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: a, managedFields: [x, {manager: 1, operation: Update}]}}`)
	require.Empty(t, explain.Known(&explain.Explanation{}, explain.Input{Manager: "me", Live: broken}).Writers)
}

// A writer's left-over fields don't include fields with unknown values. The manifest that was sent lacks these fields
// only because their values are unknown.
func TestWritersOfUnknownFields(t *testing.T) {
	live := object(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: a, managedFields: [
		{manager: helm, operation: Update, apiVersion: v1, fieldsType: FieldsV1, fieldsV1: {"f:data": {"f:a": {}, "f:b": {}}}}]}, data: {a: A, b: B}}`)
	patterns, err := projection.ParsePatterns("data.b")
	require.NoError(t, err)
	prepared := mustPrepare(t, object(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {b: B}}`), "", explain.Exceptions{Unknown: patterns})
	e := mustApply(t, explain.Input{Manager: "me", Manifest: prepared.Manifest, Live: live, Answer: live, Unknown: prepared.Unknown})
	require.Equal(t, []string{"Helm 3 data.a"}, texts(e.Writers))
}

func texts(writers []fieldowner.Writer) (out []string) {
	for _, w := range writers {
		words := []string{w.Tool}
		for _, p := range w.Stays {
			words = append(words, p.String())
		}
		out = append(out, strings.Join(words, " "))
	}
	return out
}
