package projection_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ssaplan/primitives/projection"
)

func TestNotKept(t *testing.T) {
	for _, test := range []struct {
		manifest, answer string
		declared         projection.FieldSet
		want             []string
		why              string
	}{
		{`{apiVersion: v1, kind: X, metadata: {name: a, uid: x}}`, `{}`, set(), nil, "what identifies the object is not declared"},
		{`{metadata: {labels: {a: b}, creationTimestamp: null}}`, `{metadata: {labels: {a: b}}}`, set("metadata.labels.a"), nil, "metadata that is kept"},
		{`{metadata: {labels: {a: b}}}`, `{metadata: {}}`, set(), []string{"metadata.labels: untracked"}, "and that is not"},
		{`{spec: {a: 1}, status: {b: 1, c: 2}}`, `{spec: {a: 1}}`, set("spec.a"), []string{"status: untracked"}, "the status, once"},
		{`{spec: {request: x}}`, `{spec: {request: x}}`, set(), []string{"spec: unrecorded"}, "the spec of a new CertificateSigningRequest"},
		{`{spec: {request: y}}`, `{spec: {request: x}}`, set(), []string{"spec: untracked"}, "and an edit of it"},
		{`{stringData: {a: b}}`, `{data: {a: Yg==}}`, set("stringData.a"), []string{"stringData.a: absent"}, "recorded, but not there"},
		{`{spec: {a: 1, b: 2}}`, `{spec: {a: 9}}`, set("spec.a", "spec.b"), []string{"spec.a: overridden", "spec.b: absent"}, "a changed value, and a dropped field"},
		{`{spec: {whole: {a: 1, b: {c: 1}}}}`, `{spec: {whole: {a: 1, b: {}}}}`, set("spec.whole"), []string{"spec.whole.b.c: absent"}, "pruned from an atomic map"},
		{`{spec: {l: [{a: 1, b: 1}]}}`, `{spec: {l: [{a: 1}]}}`, set("spec.l"), []string{"spec.l[0].b: absent"}, "pruned from an atomic list"},
		{`{spec: {l: [{a: 1, b: 1}]}}`, `{spec: {l: [{c: 1}, {a: 1}]}}`, set("spec.l"), []string{"spec.l: overridden"}, "a list without an item that was sent"},
		{`{spec: {l: [{a: 1}]}}`, `{spec: {l: [{c: 1}, {a: 1, b: 2}]}}`, set("spec.l"), nil, "a list to which the server adds items and defaults"},
		{`{spec: {a: {b: 1}}}`, `{spec: {a: 5}}`, set("spec.a"), []string{"spec.a: overridden"}, "a map that became a number"},
		{`{spec: {l: []}}`, `{spec: {}}`, set(), []string{"spec: untracked"}, "nothing of the spec"},
		{`{spec: {l: [], a: 1}}`, `{spec: {a: 1}}`, set("spec.a"), []string{"spec.l: no items"}, "an empty associative list declares nothing"},
		{`{spec: {l: []}}`, `{spec: {l: []}}`, set("spec.l"), nil, "an empty atomic list does"},
		{`{spec: {x: {}, z: []}}`, `{spec: {}}`, set("spec.x", "spec.z"), nil, "an empty map is left out"},
		{`{spec: {x: {}, z: {}}}`, `{spec: {x: {type: a}, z: {}}}`, set("spec.x", "spec.z"), []string{"spec.x: filled"}, "what a server puts into an empty map"},
		{`{spec: {t: "", i: 0, l: [], e: "", f: false}}`, `{spec: {t: a, i: 1, l: [1], e: "", f: true}}`, set("spec.t", "spec.i", "spec.l", "spec.e", "spec.f"),
			[]string{"spec.f: overridden", "spec.i: defaulted", "spec.l: defaulted", "spec.t: defaulted"}, "what a server puts in the place of nothing"},
		{`{spec: {t: a, e: ""}}`, `{spec: {t: {x: 1}, e: {x: 1}}}`, set("spec.t", "spec.e"), []string{"spec.e: defaulted", "spec.t: overridden"}, "a map in the place of a text is another value"},
		{`{spec: {x: null}}`, `{spec: {}}`, set("spec.x"), nil, "null is not there, as it says"},
		{
			`{ports: [{port: 53}, {port: 53, protocol: UDP, x: 1}]}`, `{ports: [{port: 53, protocol: UDP}, {port: 53, protocol: TCP}]}`,
			set(`ports[port=53,protocol="TCP"]`, `ports[port=53,protocol="TCP"].port`, `ports[port=53,protocol="UDP"]`, `ports[port=53,protocol="UDP"].port`, `ports[port=53,protocol="UDP"].protocol`, `ports[port=53,protocol="UDP"].x`),
			[]string{`ports[port=53,protocol="UDP"].x: absent`}, "elements are found by key, with its defaults",
		},
		{`{l: [{a: 1}, 5]}`, `{l: [{a: 1}]}`, set("l[a=1]"), []string{"l[1]: untracked"}, "an item that was not taken"},
		{`{f: [a, b]}`, `{f: [a]}`, set(`f[="a"]`, `f[="b"]`), []string{`f[="b"]: absent`}, "an element of a set"},
		{`{a: 5}`, `{a: 5}`, set("a.b"), nil, "a scalar where fields were recorded"},
		{`{a: {b: {c: 1}}}`, `{a: [1]}`, set("a.b.c"), []string{"a.b.c: absent"}, "another type"},
	} {
		var got []string
		for _, u := range projection.FindIneffective(object(test.manifest), object(test.answer), test.declared) {
			got = append(got, u.String())
		}
		assert.Equal(t, test.want, got, test.why)
	}
	assert.Empty(t, projection.FindIneffective(nil, nil, projection.FieldSet{}))
}

func TestOmitted(t *testing.T) {
	manifest := object(`{metadata: {labels: {}}, spec: {a: null, b: [], c: {d: {}, e: 1}, f: [], g: {}, l: [{name: a, m: []}],
		nulls: {text: null, zero: null, same: null, other: null}, o: null}}`)
	answer := object(`{metadata: {}, spec: {c: {e: 1}, f: [], g: {h: 1}, l: [{name: a}], nulls: {text: '', zero: 0, same: null, other: x}, o: ''}}`)
	declared := set("metadata.labels", "spec.a", "spec.c", "spec.f", "spec.g", "spec.l", `spec.l[name="a"]`, `spec.l[name="a"].name`, "spec.nulls", "spec.o")
	var got []string
	for _, p := range projection.FindOmitted(manifest, answer, declared) {
		got = append(got, p.String())
	}
	assert.Equal(t, []string{"metadata.labels", "spec.a", "spec.b", "spec.c.d", `spec.l[name="a"].m`, "spec.nulls.text", "spec.nulls.zero", "spec.o"}, got)
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
		var got []string
		for _, u := range projection.FindIneffective(manifest, live, declared) {
			got = append(got, u.String())
		}
		assert.Equal(t, want[name], got, name)
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
