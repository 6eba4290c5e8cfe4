package projection_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/internal/rows"
	"github.com/ssaplan/primitives/projection"
)

// What the other notations name is found in objects, too.
func TestRemoveByOtherNotations(t *testing.T) {
	for _, test := range []struct{ pattern, want string }{
		{"/spec/c/1/image", "spec.c[1].image"},
		{"/metadata/labels/0", `metadata.labels["0"]`},
		{"spec.c[?(@.name=='b')].image", `spec.c[name="b"].image`},
		{"spec.c[?(@.image=='z')]", `spec.c[image="z"]`},
		{"metadata.labels.a.io/x", `metadata.labels["a.io/x"]`},
	} {
		_, removed := patterns(test.pattern).Remove(object(`{metadata: {labels: {a.io/x: v, "0": w}}, spec: {c: [{name: a, image: x}, {name: b, image: z}]}}`))
		if assert.Len(t, removed, 1, test.pattern) {
			assert.Equal(t, test.want, removed[0].String(), test.pattern)
		}
	}
	assert.Len(t, patterns("/a/0", "a[1]", "/a/b", "a.b").WithoutPositions(), 2)
}

// A position in a pointer is that of the one item that goes, and of no other.
func TestRemoveByPosition(t *testing.T) {
	rest, removed := patterns("/c/1", "/c/3", "/c/x", "/m/1").Remove(object(`{c: [a, b, c], m: {"0": x, "1": y}}`))
	assert.Equal(t, object(`{c: [a, c], m: {"0": x}}`), rest)
	assert.Equal(t, []string{"c[1]", `m["1"]`}, texts(removed))
}

func TestPatternsRemove(t *testing.T) {
	for _, test := range rows.Read[struct {
		Patterns  []string
		Obj, Want string
		Removed   []string
		Why       string
	}](t, "remove") {
		obj := object(test.Obj)
		before := asJSON(t, obj)
		rest, removed := patterns(test.Patterns...).Remove(obj)
		assert.Equal(t, object(test.Want), rest, test.Why)
		assert.Equal(t, test.Removed, texts(removed), test.Why)
		overwrite(rest)
		assert.Equal(t, before, asJSON(t, obj), "the input is left alone")
	}
}

func TestPatternsStrip(t *testing.T) {
	for _, test := range []struct{ pattern, obj, want, why string }{
		{"a.b.c", `{a: {b: {c: 1}}, d: 1}`, `{d: 1}`, "maps that become empty go, up to one that holds something else"},
		{"a.b.c", `{a: {b: {c: 1}, e: {}}}`, `{a: {e: {}}}`, "what was empty before stays"},
		{"a.c", `{a: {}, b: []}`, `{a: {}, b: []}`, "also where the pattern looked in vain"},
		{"l[0]", `{l: [x], m: 1}`, `{m: 1}`, "a list goes as a map does"},
		{"l[0]", `{l: [x, y]}`, `{l: [y]}`, "but not with what it still holds"},
		{"a.b", `{a: {b: 1, c: 2}}`, `{a: {c: 2}}`, "nor does a map"},
	} {
		rest, _ := patterns(test.pattern).Strip(object(test.obj))
		assert.Equal(t, object(test.want), rest, test.why)
	}
}

// Find names items as a record does, which has the keys that a manifest leaves out.
func TestPatternFind(t *testing.T) {
	var fields projection.FieldSet
	require.NoError(t, fields.UnmarshalJSON([]byte(`{"f:metadata": {"f:labels": {"f:a": {}}}, "f:ports": {
		"k:{\"port\":80,\"protocol\":\"TCP\"}": {".": {}, "f:port": {}, "f:name": {}},
		"k:{\"port\":80,\"protocol\":\"UDP\"}": {".": {}, "f:port": {}, "f:protocol": {}, "f:name": {}},
		"k:{\"port\":81,\"protocol\":\"TCP\"}": {".": {}, "f:port": {}}}, "f:set": {"v:\"x\"": {}}}`)))
	manifest := object(`{kind: Thing, metadata: {name: a, labels: {a: b}}, set: [x, "y"], args: [x],
		ports: [{port: 81, name: b}, {port: 80, protocol: UDP, name: u}, {port: 80, name: t}, {port: 99, name: new}]}`)
	for pattern, want := range map[string][]string{
		`ports[port=80,protocol="TCP"].name`: {`ports[port=80,protocol="TCP"].name`},
		`ports[port=80].name`:                {`ports[port=80,protocol="UDP"].name`, `ports[port=80,protocol="TCP"].name`},
		`ports[protocol="TCP"]`:              {`ports[port=81,protocol="TCP"]`, `ports[port=80,protocol="TCP"]`},
		`ports[0].name`:                      {`ports[port=81,protocol="TCP"].name`},
		`ports[port=99].name`:                {`ports[port=99].name`},
		`ports[name="new"]`:                  {`ports[name="new"]`},
		`ports[*].protocol`:                  {`ports[port=80,protocol="UDP"].protocol`},
		`ports[port=7].name`:                 nil,
		`set[="x"]`:                          {`set[="x"]`},
		`set[1]`:                             {`set[="y"]`},
		`args[0]`:                            {`args[0]`},
		`metadata.*`:                         {"metadata.labels"},
		`kind`:                               nil,
	} {
		require.Equal(t, want, texts(patterns(pattern).Find(manifest, fields)), pattern)
	}
	require.Len(t, manifest["ports"], 4, "the manifest stays as it is")
}

// Removing from a manifest and splitting what it declares must come to the same.
func TestRemoveAgreesWithSplit(t *testing.T) {
	removedSomething := 0
	for seed := range rounds {
		r := newRandom(seed)
		r.fullKeys = true // else which fields are keys would depend on what is removed
		obj := r.object(2)
		full := everything(t, obj)
		var ps projection.Patterns
		for p := range full.All() {
			if last := p[len(p)-1].Name(); last != "name" && last != "port" && r.IntN(6) == 0 {
				ps = append(ps, patterns(r.wildcard(p))...)
			}
		}
		rest, removed := ps.Remove(obj)
		kept, matched := ps.Split(full)
		require.Equal(t, projection.Project(obj, kept).Object, projection.Project(rest, kept).Object, "seed %d: %s\n%s", seed, ps, asJSON(t, obj))
		require.Empty(t, projection.Project(rest, matched.Leaves()).Object, "seed %d: %s\n%s", seed, ps, asJSON(t, obj))
		require.Equal(t, matched.Empty(), len(removed) == 0, "seed %d", seed)
		if len(removed) > 0 {
			removedSomething++
		}
	}
	require.Greater(t, removedSomething, rounds/4)
}

// wildcard returns the text of the path with a wildcard in place of one of its elements. The last one stays, and so do
// the names of lists: else the pattern would reach into atomic ones.
func (r random) wildcard(p projection.Path) string {
	at := r.IntN(len(p))
	field := p[at].Kind() == projection.FieldKind
	if at == len(p)-1 || field && p[at+1].Kind() != projection.FieldKind {
		return p.String()
	}
	text := p[:at].String()
	switch {
	case !field:
		text += "[*]"
	case at == 0:
		text += "*"
	default:
		text += ".*"
	}
	tail := p[at+1:].String()
	if !strings.HasPrefix(tail, "[") {
		text += "."
	}
	return text + tail
}

// everything returns the fields of a random object, in which lists of positions are atomic.
func everything(t testing.TB, obj map[string]any) projection.FieldSet {
	var paths []projection.Path
	var visit func(at projection.Path, v any)
	visit = func(at projection.Path, v any) {
		name := at[len(at)-1].Name()
		m, isMap := v.(map[string]any)
		list, isList := v.([]any)
		switch {
		case isMap && len(m) > 0:
			for name, item := range m {
				visit(at.Child(projection.Field(name)), item)
			}
		case isList && keyed(name) && name[0] != 'p':
			for i, item := range list {
				if e, ok := listElement(t, name, i, item); ok {
					paths = append(paths, at.Child(e))
					if _, isMap := item.(map[string]any); isMap && name[0] == 'k' {
						visit(at.Child(e), item)
					}
				}
			}
		default:
			paths = append(paths, at)
		}
	}
	for name, item := range obj {
		visit(projection.Path{projection.Field(name)}, item)
	}
	return projection.NewFieldSet(paths...)
}
