package projection_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/util/json"

	"github.com/ssaplan/primitives/internal/rows"
	"github.com/ssaplan/primitives/projection"
)

// realObject returns an object as a server sent it after the manifest of the same name was applied by the manager m,
// with more done by others.
func realObject(t testing.TB, name string) (live, manifest map[string]any) {
	require.NoError(t, json.Unmarshal(realObjects(t)[name+".json"], &live))
	text, err := os.ReadFile("testdata/manifests/" + name + ".yaml")
	require.NoError(t, err)
	return live, object(string(text))
}

func realNames(t testing.TB) []string {
	var names []string
	for file := range realObjects(t) {
		names = append(names, strings.TrimSuffix(file, ".json"))
	}
	return names
}

func TestLearnedSchemaAgreesWithTheServer(t *testing.T) {
	for _, name := range realNames(t) {
		live, manifest := realObject(t, name)
		want, err := managedFields(live, "m")
		require.NoError(t, err)
		require.False(t, want.Empty(), name)
		schema, err := projection.LearnSchema(live)
		require.NoError(t, err, name)
		got, err := schema.Declared(context.Background(), manifest)
		require.NoError(t, err, name)
		want, got = want.Difference(elsewhere), got.Difference(elsewhere)
		assert.Equal(t, want.String(), got.String(), name)
	}
}

// elsewhere has the paths at which the live objects differ from the manifests: numbers that the server rounded, and the
// replicas that the scale subresource took over.
var elsewhere = set("spec.replicas", "spec.big[=9007199254740992]", "spec.big[=9007199254740993]",
	"spec.big[=9007199254740995]", "spec.big[=9007199254740996]")

const widgetEntries = `
- {manager: c, operation: Apply, apiVersion: ex.io/v2, fieldsV1: {"f:spec": {"f:old": {}}}}
- {manager: a, operation: Apply, apiVersion: ex.io/v1, fieldsV1: {"f:spec": {
    "f:atom": {}, "f:args": {}, "f:empty": {}, "f:none": {},
    "f:tags": {'v:"x"': {}},
    "f:ports": {'k:{"port":80,"protocol":"TCP"}': {".": {}, "f:port": {}, "f:sub": {"f:a": {}}}, 'k:{"port":81,"protocol":"UDP"}': {".": {}, "f:port": {}, "f:protocol": {}}},
    "f:devices": {'k:{"driver":"d"}': {".": {}, "f:driver": {}}, 'k:{"driver":"d","share":1}': {".": {}, "f:driver": {}, "f:share": {}}},
    "f:whole": {'k:{"id":1}': {}},
    "f:free": {"f:l": {}, "f:m": {".": {}, "f:a": {}}},
    "f:gone": {'k:{"id":1}': {}},
    "f:maps": {'v:{"a":1}': {}},
    "f:lists": {"f:x": {".": {}, "f:l": {'k:{"id":1}': {".": {}, "f:id": {}}}}, "f:z": {".": {}, "f:a": {}}},
    "f:part": {"f:known": {"f:a": {}}, "f:other": {".": {}, "f:b": {}}},
    "f:mapOfMaps": {"f:x": {".": {}, "f:a": {}, "f:l": {}}}}}}
- {manager: b, operation: Update, apiVersion: ex.io/v1, fieldsV1: {"f:spec": {"f:split": {'k:{"port":1,"protocol":"TCP"}': {".": {}, "f:port": {}}}, "f:rules": {".": {}, 'k:{"name":"r"}': {".": {}, "f:name": {}}}}}}
`

const widgetSpec = `{atom: {a: b}, args: [a], empty: {}, none: [], tags: [x], ports: [{port: 80, protocol: TCP, sub: {a: 1}}, {port: 81, protocol: UDP}],
  devices: [{driver: d}, {driver: d, share: 1}], whole: [{id: 1, x: y}], free: {l: [1], m: {a: 1}}, mapOfMaps: {x: {a: 1, l: [1]}}, rules: [{name: r}], split: [{port: 1, protocol: TCP}], part: {known: {a: 1}, other: {b: 1}}, old: [1], unowned: [1]}`

func widget(entries, spec string) map[string]any {
	obj := object(`{apiVersion: ex.io/v1, kind: Widget, spec: ` + spec + `}`)
	obj["metadata"] = map[string]any{"name": "w", "managedFields": object("entries:\n" + strings.TrimSpace(entries))["entries"]}
	return obj
}

func TestLearnedSchema(t *testing.T) {
	schema, err := projection.LearnSchema(widget(widgetEntries, widgetSpec))
	require.NoError(t, err)
	for _, test := range rows.Read[struct{ Spec, Want, Why string }](t, "learned") {
		got, err := schema.Declared(context.Background(), widget("- {}", test.Spec))
		if err != nil {
			assert.EqualError(t, err, "projection: "+test.Want, test.Why)
			assert.Equal(t, strings.Contains(test.Want, "no schema"), errors.Is(err, projection.ErrNoSchema), test.Why)
			continue
		}
		assert.Equal(t, test.Want, strings.Join(strings.Split(strings.TrimSpace(got.String()), "\n"), " "), test.Why)
	}
	_, err = schema.Declared(context.Background(), object(`{apiVersion: ex.io/v2, kind: Widget}`))
	assert.ErrorIs(t, err, projection.ErrNoSchema, "another version")
	schema, err = projection.LearnSchema(widget(`- {manager: m, apiVersion: ex.io/v1, fieldsV1: {"bad": {}}}`, "{}"))
	assert.ErrorContains(t, err, `projection: managedFields of "m"`)
	assert.Nil(t, schema, "what was learnt by half is nothing to go by")
}

// Whether the status of a custom resource is an ordinary field depends on its definition.
func TestLearnedSchemaOfStatus(t *testing.T) {
	manifest := object(`{apiVersion: ex.io/v1, kind: Widget, a: 1, status: {b: 1}}`)
	for _, test := range []struct{ entries, want, why string }{ // want is "" if the record says nothing of it
		{`- {manager: m, operation: Apply, apiVersion: ex.io/v1, fieldsV1: {"f:status": {"f:b": {}}}}`, "a\nstatus.b\n", "somebody has applied it"},
		{`- {manager: m, operation: Update, subresource: status, apiVersion: ex.io/v1, fieldsV1: {"f:status": {"f:b": {}}}}`, "a\n", "it is a subresource"},
		{`- {}`, "", "nothing has an owner"},
		{`- {manager: m, operation: Apply, apiVersion: ex.io/v1, fieldsV1: {"f:a": {}}}`, "", "no applier owns one"},
		{`- {manager: m, operation: Update, apiVersion: ex.io/v1, fieldsV1: {"f:status": {"f:b": {}}}}`, "", "an update may have made it before it was a subresource"},
		{`- {manager: m, operation: Apply, subresource: scale, apiVersion: ex.io/v1, fieldsV1: {"f:status": {"f:b": {}}}}`, "", "another subresource says nothing of it"},
	} {
		schema, err := projection.LearnSchema(widget(test.entries, "{}"))
		require.NoError(t, err)
		got, err := schema.Declared(context.Background(), manifest)
		if test.want == "" {
			assert.ErrorIs(t, err, projection.ErrNoSchema, test.why)
			continue
		}
		require.NoError(t, err, test.why)
		assert.Equal(t, test.want, got.String(), test.why)
	}
}

// An atomic list reveals nothing about the type of another list.
func TestLearnedSchemaOfOneList(t *testing.T) {
	schema, err := projection.LearnSchema(widget(`- {manager: m, operation: Apply, apiVersion: ex.io/v1, fieldsV1: {"f:spec": {"f:args": {}}}}`, "{args: [a]}"))
	require.NoError(t, err)
	_, err = schema.Declared(context.Background(), widget("- {}", "{args: [a], other: [b]}"))
	assert.ErrorIs(t, err, projection.ErrNoSchema)
}

func TestNoSchema(t *testing.T) {
	manifest := object(`{apiVersion: ex.io/v1, kind: Widget, metadata: {name: a, uid: x, labels: {l: v}, finalizers: [f]},
		spec: {list: [{a: 1}], none: [], map: {a: {b: null}, c: {}}}, status: {x: 1}}`)
	got, err := projection.NoSchema{}.Declared(context.Background(), manifest)
	require.NoError(t, err)
	assert.Equal(t, "metadata.finalizers\nmetadata.labels.l\nspec.list\nspec.map.a.b\nspec.map.c\nspec.none\n", got.String())
	got, err = projection.NoSchema{}.Declared(context.Background(), nil)
	require.NoError(t, err)
	assert.True(t, got.Empty())
}

func TestResetFields(t *testing.T) {
	assert.Equal(t, "status\n", projection.ResetFields("apps/v1", "Deployment").String())
	assert.Equal(t, "spec\nstatus\n", projection.ResetFields("certificates.k8s.io/v1", "CertificateSigningRequest").String())
	assert.Equal(t, "status\n", projection.ResetFields("example.io/v1", "CertificateSigningRequest").String(), "a kind of somebody else")
	fields := set("apiVersion", "kind", "metadata", "metadata.name", "metadata.labels", "metadata.uid", "statuses", "status", "status.a")
	assert.Equal(t, "metadata.labels\nstatuses\n", fields.Tracked(projection.ResetFields("v1", "Pod")).String())
}

// fixed is a source that gives the same answer to everything.
type fixed struct {
	fields projection.FieldSet
	err    error
}

func (f fixed) Declared(context.Context, map[string]any) (projection.FieldSet, error) {
	return f.fields, f.err
}

func TestDeclaredAsksInTurn(t *testing.T) {
	ctx := context.Background()
	unable := fixed{err: fmt.Errorf("away: %w", projection.ErrNoSchema)}
	told := fixed{fields: set("a")}
	wrong := fixed{err: errors.New("unknown field")}

	d, err := projection.PredictDeclared(ctx, nil, unable, told, wrong)
	require.NoError(t, err)
	assert.Equal(t, told, d.Source)
	assert.Equal(t, []error{unable.err}, d.Skipped, "with the reason")
	assert.Equal(t, "a\n", d.Fields.String())

	_, err = projection.PredictDeclared(ctx, nil, unable, wrong, told)
	assert.Equal(t, wrong.err, err, "a wrong manifest is wrong for the others too")
	_, err = projection.PredictDeclared(ctx, nil, unable, unable)
	require.ErrorIs(t, err, projection.ErrNoSchema)
	assert.EqualError(t, err, "away: no schema\naway: no schema")
	_, err = projection.PredictDeclared(ctx, nil)
	assert.ErrorIs(t, err, projection.ErrNoSchema)

	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	_, err = projection.PredictDeclared(cancelled, nil, unable, told)
	assert.Equal(t, unable.err, err, "who gives up is not asking the next")
}
