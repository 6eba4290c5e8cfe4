package projection_test

import (
	stdjson "encoding/json"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	"github.com/ssaplan/primitives/projection"
)

// object reads YAML as clients of Kubernetes decode it, with 64-bit integers.
func object(text string) map[string]any {
	data, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		panic(err)
	}
	var obj map[string]any
	if err := json.Unmarshal(data, &obj); err != nil {
		panic(err)
	}
	return obj
}

func set(paths ...string) projection.FieldSet {
	var parsed []projection.Path
	for _, p := range paths {
		parsed = append(parsed, path(p))
	}
	return projection.NewFieldSet(parsed...)
}

func TestProject(t *testing.T) {
	for _, test := range []struct {
		name, obj  string
		set        projection.FieldSet
		want       string // "" is no object
		missing    []string
		duplicates []string
		why        string
	}{
		{
			name: "fields", obj: `{spec: {replicas: 3, paused: true}}`, set: set("spec.replicas"),
			want: `{spec: {replicas: 3}}`, why: "what the set lacks is left out",
		},
		{
			name: "missing", obj: `{spec: {}}`, set: set("spec.a", "spec.b.c", "spec.b.c.d", "x"),
			want: "", missing: []string{"spec.a", "spec.b.c", "x"}, why: "reported in order, the topmost only",
		},
		{
			name: "whole map", obj: `{spec: {selector: {a: 1}}}`, set: set("spec.selector"),
			want: `{spec: {selector: {a: 1}}}`, why: "a leaf stands for all that is there",
		},
		{
			name: "empty map", obj: `{labels: {}}`, set: set("labels"),
			want: `{labels: {}}`, why: "an empty map that is declared is there",
		},
		{
			name: "member map", obj: `{data: {b: 1}}`, set: set("data", "data.a"),
			want: `{data: {}}`, missing: []string{"data.a"}, why: "a map of the set stays though nothing of it is left",
		},
		{
			name: "dotted key", obj: `{data: {config.yaml: x, config: {yaml: y}}}`, set: set(`data["config.yaml"]`),
			want: `{data: {config.yaml: x}}`, why: "a key with a dot is one step: edits of it were lost elsewhere",
		},
		{
			name: "numeric key", obj: `{data: {"0": x}, list: [x]}`, set: set(`data["0"]`, `list["0"]`),
			want: `{data: {"0": x}}`, missing: []string{`list["0"]`}, why: "a key that is a number is no position",
		},
		{
			name: "sidecar first", obj: `{containers: [{name: sidecar, image: s}, {name: app, image: a}]}`, set: set(`containers[name="app"].image`),
			want: `{containers: [{name: app, image: a}]}`, why: "an injected element shifts nothing, and the key stays to find it again",
		},
		{
			name: "empty key left out", obj: `{secrets: [{name: a}, {}, {other: 1}]}`, set: set(`secrets[name=""]`, `secrets[name="b"]`),
			want: `{secrets: [{}]}`, missing: []string{`secrets[name="b"]`}, duplicates: []string{`secrets[name=""]`}, why: "a server leaves out a key whose default is empty",
		},
		{
			name: "same port twice", obj: `{ports: [{port: 53, protocol: TCP, name: a}, {port: 53, protocol: UDP, name: b}]}`,
			set:  set(`ports[port=53,protocol="UDP"].name`),
			want: `{ports: [{port: 53, protocol: UDP, name: b}]}`, why: "the key is all of its fields",
		},
		{
			name: "mount by path", obj: `{volumeMounts: [{name: v, mountPath: /a, readOnly: true}, {name: v, mountPath: /b}]}`,
			set:  set(`volumeMounts[mountPath="/b"].name`),
			want: `{volumeMounts: [{mountPath: /b, name: v}]}`, why: "which field is the key is said by the set, not guessed",
		},
		{
			name: "optional key", obj: `{devices: [{device: d, share: 1, x: 1}, {device: d, x: 2}]}`,
			set:  set(`devices[device="d"].x`, `devices[device="d",share=1].x`),
			want: `{devices: [{device: d, share: 1, x: 1}, {device: d, x: 2}]}`, why: "an item without a key field is another item than one with it",
		},
		{
			name: "set element", obj: `{finalizers: [a/x, b/y, "5", 5]}`, set: set(`finalizers[="b/y"]`, `finalizers[=5]`),
			want: `{finalizers: [b/y, 5]}`, why: `by value, and "5" isn't 5`,
		},
		{
			name: "set of null", obj: `{list: [null, a]}`, set: set(`list[=null]`),
			want: `{list: [null]}`, why: "null is a value",
		},
		{
			name: "whole element", obj: `{imagePullSecrets: [{name: a}, {name: b}]}`, set: set(`imagePullSecrets[name="b"]`),
			want: `{imagePullSecrets: [{name: b}]}`, why: "elements that are owned whole were lost elsewhere",
		},
		{
			name: "list order", obj: `{env: [{name: z}, {name: w}, {name: a}]}`, set: set(`env[name="a"].name`, `env[name="z"].name`),
			want: `{env: [{name: z}, {name: a}]}`, why: "order is part of what the object says",
		},
		{
			name: "positions", obj: `{args: [a, b, c, d]}`, set: set("args[1]", "args[3]", "args[9]"),
			want: `{args: [null, b, null, d]}`, missing: []string{"args[9]"}, why: "a position stays what it is",
		},
		{
			name: "large numbers", obj: `{ids: [9007199254740993, 1152921504606846977], by: [{id: 9007199254740993, v: 1}]}`,
			set:  set(`ids[=9007199254740992]`, `ids[=1152921504606847000]`, `by[id=9007199254740992].v`),
			want: `{ids: [9007199254740993, 1152921504606846977], by: [{id: 9007199254740993, v: 1}]}`, why: "servers round them in managedFields",
		},
		{
			name: "large numbers, exact", obj: `{ids: [9007199254740993, 9007199254740992]}`, set: set(`ids[=9007199254740993]`),
			want: `{ids: [9007199254740993]}`, why: "but not at first",
		},
		{
			name: "large numbers, exact and rounded", obj: `{ids: [9007199254740992, 9007199254740993]}`, set: set(`ids[=9007199254740992]`),
			want: `{ids: [9007199254740992]}`, why: "what a path names exactly it doesn't name twice",
		},
		{
			name: "duplicates", obj: `{env: [{name: a, value: 1}, {name: b}, {name: a, value: 2}, {name: a, value: 3}]}`, set: set(`env[name="a"].value`),
			want: `{env: [{name: a, value: 1}]}`, duplicates: []string{`env[name="a"]`}, why: "the first counts, and it is said once",
		},
		{
			name: "mixed list", obj: `{list: [1, "x", null, {name: a}, [name], true]}`, set: set(`list[name="a"]`, `list[="x"]`),
			want: `{list: [x, {name: a}]}`, why: "items of other types are passed over",
		},
		{
			name: "scalar for a map", obj: `{spec: 5}`, set: set("spec.a.b"),
			want: "", missing: []string{"spec.a.b"}, why: "a scalar has no fields",
		},
		{
			name: "scalar of the set", obj: `{spec: 5}`, set: set("spec", "spec.a"),
			want: `{spec: 5}`, missing: []string{"spec.a"}, why: "the place is there, what should be below is not",
		},
		{
			name: "list for a map", obj: `{spec: [{a: 1}]}`, set: set("spec.a"),
			want: "", missing: []string{"spec.a"}, why: "an item's field is not the list's",
		},
		{
			name: "map for a list", obj: `{list: {name: a, "0": b}}`, set: set(`list[name="a"]`, "list[0]"),
			want: "", missing: []string{`list[name="a"]`, "list[0]"}, why: "a map has no items",
		},
		{
			name: "null", obj: `{a: null, b: null}`, set: set("a", "b.c"),
			want: `{a: null}`, missing: []string{"b.c"}, why: "null is there, but has no fields",
		},
		{
			name: "everything", obj: `{a: {b: [1]}}`, set: projection.NewFieldSet(projection.Path{}),
			want: `{a: {b: [1]}}`, why: "the empty path is the object itself",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := projection.Project(object(test.obj), test.set)
			var want map[string]any
			if test.want != "" {
				want = object(test.want)
			}
			if len(p.Object) == 0 && want == nil {
				p.Object = nil // an object that has nothing of the set
			}
			assert.Equal(t, want, p.Object, test.why)
			assert.Equal(t, append([]string{}, test.missing...), texts(p.Missing), test.why)
			assert.Equal(t, append([]string{}, test.duplicates...), texts(p.Duplicates), test.why)
			assert.True(t, test.set.Equal(p.Fields))
		})
	}
}

func TestProjectKeepsTypes(t *testing.T) {
	values := map[string]any{
		"int": int64(math.MaxInt64), "negative": int64(math.MinInt64), "beyond 2^53": int64(1<<53 + 1), "float": 5.0, "integer": int64(5),
		"text": "5", "true": true, "null": nil, "list": []any{int64(1), "1", 1.0}, "map": map[string]any{"a": nil},
	}
	p := projection.Project(map[string]any{"spec": values}, set("spec"))
	assert.Equal(t, values, p.Object["spec"])
	var paths []projection.Path
	for name := range values {
		paths = append(paths, projection.Path{projection.Field("spec"), projection.Field(name)})
	}
	p = projection.Project(map[string]any{"spec": values}, projection.NewFieldSet(paths...))
	assert.Equal(t, values, p.Object["spec"], "field by field too")
}

// A manifest that was written as a Go literal has types that JSON decoding doesn't make.
func TestProjectMakesPlainValues(t *testing.T) {
	type port struct {
		Port int32  `json:"port"`
		Name string `json:"name"`
	}
	labels := map[string]string{"a": "1", "b": "2"}
	obj := map[string]any{
		"labels": labels, "whole": labels, "replicas": 3, "ports": []port{{80, "http"}, {443, "https"}},
		"args": []string{"x"}, "number": stdjson.Number("7"), "ratio": float32(0.5), "bad": make(chan int), "nan": math.NaN(),
	}
	p := projection.Project(obj, set("labels.a", "whole", "replicas", `ports[port=443]`, "args", "number", "ratio", "bad", "nan"))
	assert.Equal(t, obj["bad"], p.Object["bad"], "what JSON can't say stays as it is")
	assert.Empty(t, projection.Diff(p, p))
	delete(p.Object, "bad")
	delete(p.Object, "nan")
	assert.Equal(t, map[string]any{
		"labels": map[string]any{"a": "1"}, "whole": map[string]any{"a": "1", "b": "2"}, "replicas": int64(3),
		"ports": []any{map[string]any{"port": int64(443), "name": "https"}}, "args": []any{"x"}, "number": int64(7), "ratio": 0.5,
	}, p.Object)
	p.Object["whole"].(map[string]any)["a"] = "overwritten"
	assert.Equal(t, "1", labels["a"])
}

func TestZeroValuesAreHarmless(t *testing.T) {
	var zero projection.FieldSet
	assert.True(t, zero.Empty() && zero.Equal(zero.Union(zero)) && zero.Leaves().Empty() && zero.Under(nil).Empty())
	assert.False(t, zero.Has(nil) || zero.Covers(path("a")))
	assert.Equal(t, "{}", string(zero.FieldsV1()))
	assert.Empty(t, zero.String())

	p := projection.Project(object(`{a: 1}`), zero)
	assert.Nil(t, p.Object)
	assert.Empty(t, p.Missing)
	assert.Empty(t, projection.Diff(projection.Projection{}, projection.Projection{}))
	assert.Empty(t, projection.Sensitive(nil).Len())
	assert.NotPanics(t, func() { _ = fmt.Sprint(projection.Difference{}, projection.Element{}, projection.Path(nil)) })
}
