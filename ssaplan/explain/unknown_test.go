package explain_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/projection/foreign"
	"github.com/ssaplan/primitives/ssaplan/explain"
)

const brokenRecord = `{apiVersion: v1, kind: ConfigMap, metadata: {name: a, managedFields: [{manager: m, fieldsType: FieldsV1, fieldsV1: {odd: 5}}]}}`

// An item that live lacks is unknown as a whole, if need be.
func TestItemsOfUnknownValues(t *testing.T) {
	m := newMemory(t)
	live := m.apply(us, object(t, pod("{name: a, image: a, env: [{name: A, value: x}], args: [x, z]}, {name: b, image: b}")))
	const manifest = "{name: a, image: a, env: [{name: A, value: x}, {name: B}], args: [x, z]}, {name: b, image: b}, {name: c, image: c}"
	for _, row := range []struct {
		why     string
		unknown []string
		want    []string
	}{
		{"a field of an item that is there", []string{"spec.containers[1].image"}, nil},
		{"a field of one that is new", []string{"spec.containers[2].image"}, []string{"spec.containers[2]"}},
		{"by key", []string{`spec.containers[name="c"].image`}, []string{`spec.containers[name="c"]`}},
		{"two fields of it", []string{"spec.containers[2].image", "spec.containers[2].tty"}, []string{"spec.containers[2]"}},
		{"the innermost item counts", []string{"spec.containers[0].env[1].value"}, []string{"spec.containers[0].env[1]"}},
		{"a field in no list", []string{"spec.nodeName"}, nil},
		{"a field of the object itself", []string{"spec"}, nil},
		{"an item as a whole is unknown already", []string{"spec.containers[2]"}, nil},
		{"and is so with its fields", []string{"spec.containers[2]", "spec.containers[2].image"}, nil},
		{"one that is there, and one that isn't", []string{"spec.containers[1].image", "spec.containers[2].image"}, []string{"spec.containers[2]"}},
		{"one in no list, and one in an item", []string{"metadata.labels.x", `spec.containers[name="z"].image`}, []string{`spec.containers[name="z"]`}},
		{"an item of an atomic list", []string{"spec.containers[0].args[1]"}, nil},
	} {
		u := prepare(t, pod(manifest), row.unknown...).Unknown
		require.Equal(t, row.want, lines(u.Items(live)), row.why)
	}
	require.Nil(t, prepare(t, pod(manifest), "spec.containers[2].image").Unknown.Items(object(t, brokenRecord)))
}

// Only what isn't known is held, and only if there is an object.
func TestHoldNothing(t *testing.T) {
	m := newMemory(t)
	live := m.apply(us, object(t, pod("{name: a, image: a}")))
	known, unknown := prepare(t, pod("{name: a, image: a}")), prepare(t, pod("{name: a, image: a}"), "spec.containers[0].image")
	for _, row := range []struct {
		why  string
		from explain.Prepared
		live map[string]any
	}{{"all is known", known, live}, {"there is no object", unknown, nil}, {"neither", known, nil}} {
		held, err := row.from.Unknown.Hold(row.from.Manifest, row.live)
		require.NoError(t, err)
		held["mark"] = true
		require.Contains(t, row.from.Manifest, "mark", "%s: it is the manifest itself", row.why)
	}
	_, err := unknown.Unknown.Hold(unknown.Manifest, object(t, brokenRecord))
	require.Error(t, err)
}

func TestAdjustmentWarnings(t *testing.T) {
	adjustments := []projection.Adjustment{
		{Path: path(t, "status"), Reason: "no"}, {Path: path(t, "stringData.a"), To: path(t, "data.a"), Reason: "moved"},
	}
	require.Equal(t, []foreign.Text{"status: dropped: no"}, explain.AdjustmentWarnings(adjustments))
}

func TestDeclaredWithoutAServer(t *testing.T) {
	declared, err := explain.Declared(object(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {a: A}}`))
	require.NoError(t, err)
	require.Equal(t, object(t, `{data: {a: A}}`), declared.Object)
}

// A no-op shows nothing, whatever was observed last.
func TestBaselineOfNoOps(t *testing.T) {
	m := newMemory(t)
	manifest := object(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {a: A}}`)
	live := m.apply(us, manifest)
	state := remembered(t, manifest, live)
	drifted := mustRefresh(t, state, m.patch(live, `{data: {a: B}}`))
	live = m.apply(us, manifest)
	e := mustApply(t, explain.Input{Manifest: manifest, Live: live, Answer: m.try(manifest), Manager: us, Prior: drifted.State})
	require.True(t, e.NoOp)
	require.Empty(t, projection.Diff(e.Baseline, e.After))
}
