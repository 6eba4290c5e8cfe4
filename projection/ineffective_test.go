package projection_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ssaplan/primitives/internal/rows"
	"github.com/ssaplan/primitives/projection"
)

func TestNotKept(t *testing.T) {
	for _, test := range rows.Read[struct {
		Manifest, Answer string
		Declared, Want   []string
		Why              string
	}](t, "notkept") {
		got := projection.FindIneffective(object(test.Manifest), object(test.Answer), set(test.Declared...))
		assert.Equal(t, test.Want, texts(got), test.Why)
	}
	assert.Empty(t, projection.FindIneffective(nil, nil, projection.FieldSet{}))
}

func TestOmitted(t *testing.T) {
	manifest := object(`{metadata: {labels: {}}, spec: {a: null, b: [], c: {d: {}, e: 1}, f: [], g: {}, l: [{name: a, m: []}],
		nulls: {text: null, zero: null, same: null, other: null}, o: null}}`)
	answer := object(`{metadata: {}, spec: {c: {e: 1}, f: [], g: {h: 1}, l: [{name: a}], nulls: {text: '', zero: 0, same: null, other: x}, o: ''}}`)
	declared := set("metadata.labels", "spec.a", "spec.c", "spec.f", "spec.g", "spec.l", `spec.l[name="a"]`, `spec.l[name="a"].name`, "spec.nulls", "spec.o")
	assert.Equal(t, []string{"metadata.labels", "spec.a", "spec.b", "spec.c.d", `spec.l[name="a"].m`, "spec.nulls.text", "spec.nulls.zero", "spec.o"},
		texts(projection.FindOmitted(manifest, answer, declared)))
}

// What the server made of the manifests in testdata: all is kept but what the comments say.
func TestNotKeptOfRealObjects(t *testing.T) {
	want := map[string][]string{
		"secret":     {"stringData.password: absent"},
		"deployment": {"spec.replicas: untracked"}, // since the scale subresource wrote it
		"pod": { // 0.5 is stored as 500m
			`spec.containers[name="app"].resources.requests.cpu: overridden`,
			`spec.containers[name="app"].resources.requests.memory: overridden`,
		},
	}
	for _, name := range realNames(t) {
		live, manifest := realObject(t, name)
		declared, err := managedFields(live, "m")
		assert.NoError(t, err)
		assert.Equal(t, want[name], texts(projection.FindIneffective(manifest, live, declared)), name)
	}
}

// Finding items without their default keys must not compare each with each: that would take minutes.
func TestNotKeptOfManyItems(t *testing.T) {
	const n = 20000
	var items, answered []any
	var paths []projection.Path
	for i := range int64(n) {
		items = append(items, map[string]any{"port": i})
		answered = append(answered, map[string]any{"port": i, "protocol": "TCP"})
		k := key(map[string]any{"port": i, "protocol": "TCP"})
		paths = append(paths, projection.Path{projection.Field("ports"), k, projection.Field("port")})
	}
	got := projection.FindIneffective(map[string]any{"ports": items}, map[string]any{"ports": answered}, projection.NewFieldSet(paths...))
	assert.Empty(t, got)
}
