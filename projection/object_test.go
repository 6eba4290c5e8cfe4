package projection_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/util/json"

	"github.com/ssaplan/primitives/projection"
)

func TestGet(t *testing.T) {
	obj := object(`{"a.b": 1, "a": {"b": 2, "none": null}, "set": ["x", 5, {"k": 1}, "x"], "ids": [9007199254740993], "exact": [9007199254740993, 9007199254740992], "secrets": [{"name": "a"}, {}], "both": [{}, {"name": ""}],
		"ports": [{"p": 80, "q": "TCP", "n": 1}, {"p": 80, "n": 2}, {"p": 80, "q": "TCP", "n": 3}, "odd", {"n": 4}],
		"by": [{"id": 9007199254740993, "v": 1}, {"id": 9007199254740992, "v": 2}, {"id": 9007199254740995, "v": 3}]}`)
	for _, row := range []struct {
		path    string
		pointer string // "" if there is nothing
		want    any
		why     string
	}{
		{`["a.b"]`, "/a.b", int64(1), "a name with a dot"},
		{"a.b", "/a/b", int64(2), "a field of a field"},
		{"a.none", "/a/none", nil, "null is a value"},
		{"a.missing", "", nil, "a field that isn't there"},
		{"a.b.c", "", nil, "below a scalar"},
		{"a.none.c", "", nil, "below null"},
		{"a[0]", "", nil, "a map has no positions"},
		{`a[="b"]`, "", nil, "nor values"},
		{"set.x", "", nil, "a list has no fields"},
		{`set["0"]`, "", nil, "not even one that looks like a position"},
		{`set[="x"]`, "/set/0", "x", "of equal values the first"},
		{`set[=5]`, "/set/1", int64(5), "of any type"},
		{`set[={"k":1}].k`, "/set/2/k", int64(1), "also a composite one"},
		{`set[="5"]`, "", nil, "types count"},
		{"set[1]", "/set/1", int64(5), "a position"},
		{"set[4]", "", nil, "a position behind the end"},
		{`ports[p=80,q="TCP"].n`, "/ports/0/n", int64(1), "of items with the same key the first"},
		{`ports[p=80].n`, "/ports/0/n", int64(1), "the path alone tells what a key is"},
		{`ports[p=80,q="UDP"].n`, "", nil, "a server leaves out no key field with a default other than the empty text"},
		{`secrets[name=""]`, "/secrets/1", map[string]any{}, "but that it does"},
		{`both[name=""]`, "/both/1", map[string]any{"name": ""}, "what has the empty text goes first"},
		{`secrets[name="b"]`, "", nil, "the item without a name isn't every item that is gone"},
		{`by[id=9007199254740992].v`, "/by/1/v", int64(2), "an exact number goes before one that would be rounded to it"},
		{`by[id=9007199254740993].v`, "/by/0/v", int64(1), "and is found"},
		{`by[id=9007199254740996].v`, "/by/2/v", int64(3), "a number that a server has rounded in its record"},
		{`by[id=9007199254740994].v`, "", nil, "a number to which none is rounded"},
		{`ids[=9007199254740992]`, "/ids/0", int64(9007199254740993), "the same of values"},
		{`exact[=9007199254740992]`, "/exact/1", int64(9007199254740992), "of which the exact one goes first, too"},
	} {
		got, exists := projection.Get(obj, path(row.path))
		assert.Equal(t, row.pointer != "", exists, "%s: %s", row.path, row.why)
		assert.Equal(t, row.want, got, "%s: %s", row.path, row.why)
		pointer, exists := projection.Pointer(obj, path(row.path))
		assert.Equal(t, row.pointer != "", exists, "%s: %s", row.path, row.why)
		assert.Equal(t, row.pointer, pointer, "%s: %s", row.path, row.why)
		alone := projection.Project(obj, set(row.path))
		assert.Equal(t, exists, len(alone.Missing) == 0, "%s: %s", row.path, row.why)
	}
	whole, exists := projection.Get(obj, nil)
	assert.Equal(t, obj, whole)
	assert.True(t, exists)
	_, exists = projection.Get(nil, nil)
	assert.False(t, exists, "no object")
	_, exists = projection.Get(nil, path("a"))
	assert.False(t, exists, "nothing in no object")
}

// The record of a server that has rounded the key of an item, and the item: code.md's example of two matchers.
func TestARoundedRecordNamesItsItem(t *testing.T) {
	obj := object(`{spec: {items: [{id: 9007199254740993, v: x}]}}`)
	record := path("spec.items[id=9007199254740992].v")
	v, exists := projection.Get(obj, record)
	assert.True(t, exists)
	assert.Equal(t, "x", v)
	assert.Empty(t, projection.Project(obj, projection.NewFieldSet(record)).Missing)
	v, exists = projection.NewObject(obj, projection.NewFieldSet(record)).Get(record)
	assert.True(t, exists)
	assert.Equal(t, "x", v)
}

func TestGetWithFields(t *testing.T) {
	for _, row := range []struct {
		obj      string
		fields   projection.FieldSet
		path     string
		manifest bool
		want     any // nil if there is nothing
		why      string
	}{
		{`{d: [{"n": a, share: 1, x: 1}, {"n": a, x: 2}]}`, set(`d[n="a"]`, `d[n="a",share=1]`), `d[n="a"].x`, false, int64(2), "the fields tell that share is a key"},
		{`{d: [{"n": a, share: 1, x: 1}]}`, set(`d[n="a",share=1]`), `d[n="a"].x`, false, nil, "an item with one more key field is another one"},
		{`{d: [{"n": a, share: 1, x: 1}]}`, projection.FieldSet{}, `d[n="a"].x`, false, int64(1), "without fields the path alone tells"},
		{`{l: [{id: 9007199254740993, v: 1}]}`, set("l[id=9007199254740993]"), "l[id=9007199254740992].v", false, nil, "an item that the fields name exactly isn't another one rounded"},
		{`{l: [{id: 9007199254740995, v: 1}]}`, set("l[id=9007199254740995]", "l[id=9007199254740996]"), "l[id=9007199254740996].v", false, nil, "not even if the fields name both"},
		{`{p: [{p: 53, "n": 1}, {p: 53, q: UDP, "n": 2}]}`, set(`p[p=53,q="TCP"]`, `p[p=53,q="UDP"]`), `p[p=53,q="TCP"].n`, true, int64(1), "a manifest leaves out a default"},
		{`{p: [{p: 53, "n": 1}, {p: 53, q: UDP, "n": 2}]}`, projection.FieldSet{}, `p[p=53,q="TCP"].n`, true, int64(1), "of which nothing needs to be known"},
		{`{p: [{p: 53, "n": 1}, {p: 53, q: UDP, "n": 2}]}`, projection.FieldSet{}, `p[p=53,q="UDP"].n`, true, int64(2), "what has the whole key goes first"},
		{`{p: [{p: 53, "n": 1}]}`, projection.FieldSet{}, `p[p=53,q="TCP"].n`, false, nil, "a server doesn't"},
		{`{p: [{"n": 4}]}`, projection.FieldSet{}, `p[p=81,q="UDP"].n`, true, int64(4), "or all of them"},
		{`{p: [{p: 53, "n": 1}]}`, set(`p[p=53,q="SCTP"].q`, `p[p=53,q="TCP"].p`), `p[p=53,q="TCP"].n`, true, int64(1), "the record has no field for what was left out"},
		{`{p: [{p: 53, "n": 1}]}`, set(`p[p=53,q="SCTP"].q`, `p[p=53,q="TCP"].p`), `p[p=53,q="SCTP"].n`, true, nil, "so the other one isn't meant"},
		{`{p: [{p: 53}, {p: 53, "n": 2}]}`, set(`p[p=53,q="TCP"]`, `p[p=53,q="UDP"]`), `p[p=53,q="UDP"].n`, true, int64(2), "each item has one name"},
		{`{p: [{p: 53, "n": 1}]}`, set("p[0]"), "p[0].n", false, int64(1), "positions of an atomic list"},
	} {
		o := projection.NewObject(object(row.obj), row.fields)
		if row.manifest {
			o = projection.NewManifest(object(row.obj), row.fields)
		}
		for range 2 { // the second time from the index
			got, exists := o.Get(path(row.path))
			assert.Equal(t, row.want != nil, exists, "%s: %s", row.path, row.why)
			assert.Equal(t, row.want, got, "%s: %s", row.path, row.why)
		}
	}
}

func TestSet(t *testing.T) {
	for _, row := range []struct {
		obj, path string
		value     any
		want      string // or the error, if it begins with !
		why       string
	}{
		{`{a: 1, c: 1}`, "a", int64(2), `{a: 2, c: 1}`, "a field that is there"},
		{`{a: 1}`, "a", nil, `{a: null}`, "null is a value"},
		{`{}`, "a.b.c", "x", `{a: {b: {c: x}}}`, "maps are made"},
		{`{a: null}`, "a.b", "x", `{a: {b: x}}`, "in the place of null too"},
		{`{l: [{"n": a, v: 1}, {"n": b}]}`, `l[n="b"].v`, int64(2), `{l: [{"n": a, v: 1}, {"n": b, v: 2}]}`, "in an item"},
		{`{l: [{"n": a}]}`, `l[n="b"].v`, int64(2), `{l: [{"n": a}, {"n": b, v: 2}]}`, "an item is made with its key"},
		{`{}`, `l[n="b"].v`, int64(2), `{l: [{"n": b, v: 2}]}`, "and its list"},
		{`{l: [{"n": a, v: 1}]}`, `l[n="a"]`, map[string]any{"n": "a"}, `{l: [{"n": a}]}`, "a whole item"},
		{`{s: [a]}`, `s[="b"]`, "b", `{s: [a, b]}`, "an element of a set"},
		{`{l: [a]}`, "l[0]", "b", `{l: [b]}`, "a position"},
		{`{l: [a]}`, "l[1].x", "b", `{l: [a, {x: b}]}`, "the position behind the last"},
		{`{l: [{"n": a}]}`, `l[n="a"].n`, "a", `{l: [{"n": a}]}`, "a key field that stays what it is"},
		{`{l: [{"n": a}]}`, `l[n="a"].n`, "b", `!projection: set l[n="a"].n: the item is named by another value`, "and one that doesn't"},
		{`{l: [{"n": a}]}`, `l[n="a"].n.x`, "b", `!projection: set l[n="a"].n.x: the item is named by another value`, "or would be no text any more"},
		{`{l: [{k: 1}]}`, `l[={"k":1}].k`, int64(1), `!projection: set l[={"k":1}].k: the item is named by another value`, "the inside of a value"},
		{`{l: [{"n": a}]}`, `l[n="a"]`, map[string]any{"n": "b"}, `!projection: set l[n="a"]: the value has another name`, "an item of another name"},
		{`{s: [a]}`, `s[="a"]`, "b", `!projection: set s[="a"]: the value has another name`, "another value"},
		{`{l: [a]}`, "l[2]", "b", `!projection: set l[2]: l has 1 items`, "a position further behind"},
		{`{a: 1}`, "a.b", "x", `!projection: set a.b: a is neither a map nor a list`, "below a scalar"},
		{`{a: {}}`, "a[0]", "x", `!projection: set a[0]: a is a map`, "a position of a map"},
		{`{a: []}`, "a.b", "x", `!projection: set a.b: a is a list`, "a field of a list"},
		{`{a: []}`, "[0]", "x", `!projection: set [0]: the object is a map`, "a position of the object"},
		{`{a: 1}`, "", int64(1), `!projection: set: an object has to be a map`, "the object itself"},
		{`{a: 1}`, "", map[string]any{"b": int64(1)}, `{b: 1}`, "by another map"},
	} {
		obj := object(row.obj)
		got, err := projection.Set(obj, path(row.path), row.value)
		assert.Equal(t, object(row.obj), obj, "the object isn't modified")
		if want, isError := strings.CutPrefix(row.want, "!"); isError {
			assert.EqualError(t, err, want, row.why)
			assert.Nil(t, got)
			continue
		}
		require.NoError(t, err, row.why)
		assert.Equal(t, object(row.want), got, row.why)
	}
	got, err := projection.Set(nil, path("a"), "x")
	require.NoError(t, err)
	assert.Equal(t, object(`{a: x}`), got, "of no object")
	got, err = projection.Set(map[string]any{"a": map[string]any(nil)}, path("a.b"), "x")
	require.NoError(t, err)
	assert.Equal(t, object(`{a: {b: x}}`), got, "a map that is nil")
	require.Error(t, projection.NewObject(nil, projection.FieldSet{}).Set(path("a"), "x"), "there is nothing to change")
}

// In a manifest an item may leave out key fields, so it has the name that others of its list would give it.
func TestSetOfItemsThatLeaveOutKeys(t *testing.T) {
	for _, row := range []struct {
		value any
		want  string // the error
		why   string
	}{
		{object(`{p: 54, q: TCP}`), "", "the whole key"},
		{object(`{p: 54}`), "", "a key field with a default"},
		{object(`{}`), "", "all of them may have one"},
		{object(`{p: 55}`), `projection: set p[p=54,q="TCP"]: the value has another name`, "but not another value"},
		{"x", `projection: set p[p=54,q="TCP"]: the value has another name`, "or none at all"},
	} {
		o := projection.NewManifest(object(`{p: [{p: 53}]}`), projection.FieldSet{})
		first, second := path(`p[p=53,q="TCP"]`), path(`p[p=54,q="TCP"]`)
		_, exists := o.Get(first)
		require.True(t, exists)
		if err := o.Set(second, row.value); row.want != "" {
			require.EqualError(t, err, row.want, row.why)
			continue
		} else {
			require.NoError(t, err, row.why)
		}
		for p, want := range map[*projection.Path]any{&first: map[string]any{"p": int64(53)}, &second: row.value} {
			got, _ := o.Get(*p)
			assert.Equal(t, want, got, "%s: %s", p, row.why)
		}
	}
	err := projection.NewObject(object(`{p: [{p: 53}]}`), projection.FieldSet{}).Set(path(`p[p=54,q="TCP"]`), object(`{p: 54}`))
	assert.ErrorContains(t, err, "the value has another name", "a server leaves out none")
}

func TestRemove(t *testing.T) {
	obj := object(`{a: {b: 1, c: null}, l: [{"n": a}, {"n": b}, {"n": c}], s: [x, "y"]}`)
	o := projection.NewObject(obj, projection.FieldSet{})
	for _, p := range []string{"a.b", "a.c", `l[n="b"]`, `s[="x"]`, `l[n="a"].n`} {
		assert.True(t, o.Remove(path(p)), p)
		assert.False(t, o.Remove(path(p)), "%s is gone", p)
	}
	assert.Equal(t, object(`{a: {}, l: [{}, {"n": c}], s: ["y"]}`), obj)
	_, exists := o.Get(path(`l[n="a"]`))
	assert.True(t, exists, "an item keeps the name under which it was found")
	assert.False(t, o.Remove(nil), "the object itself stays")
	assert.False(t, o.Remove(path("x.y")))
}

func TestStripAt(t *testing.T) {
	for _, row := range []struct{ obj, path, want, why string }{
		{`{a: {b: {c: 1}}, x: 1}`, "a.b.c", `{x: 1}`, "with all that is empty around it"},
		{`{a: {b: {c: 1}, d: 1}}`, "a.b.c", `{a: {d: 1}}`, "and not what has something else"},
		{`{a: {b: {c: {e: 1}, d: 1}}}`, "a.b.c.e", `{a: {b: {d: 1}}}`, "nor what is around that"},
		{`{a: {l: [{"n": a}]}, x: 1}`, `a.l[n="a"]`, `{x: 1}`, "the only item"},
		{`{a: {l: [{"n": a}, {"n": b}]}}`, `a.l[n="a"]`, `{a: {l: [{"n": b}]}}`, "one of two"},
		{`{a: {b: 1}}`, "a", `{}`, "to the object, which stays"},
	} {
		obj := object(row.obj)
		assert.True(t, projection.NewObject(obj, projection.FieldSet{}).Strip(path(row.path)), row.why)
		assert.Equal(t, object(row.want), obj, row.why)
		assert.False(t, projection.NewObject(obj, projection.FieldSet{}).Strip(path(row.path)), row.why)
		assert.Equal(t, object(row.want), obj, "what isn't there takes nothing with it")
	}
}

// What a caller has behind the end of a list, in the same memory, stays as it is.
func TestSetAppendsInMemoryOfItsOwn(t *testing.T) {
	all := []any{"a", "b"}
	o := projection.NewObject(map[string]any{"s": all[:1]}, projection.FieldSet{})
	require.NoError(t, o.Set(path(`s[="c"]`), "c"))
	require.NoError(t, o.Set(path(`s[="d"]`), "d"))
	assert.Equal(t, []any{"a", "b"}, all)
	got, _ := o.Get(path("s"))
	assert.Equal(t, []any{"a", "c", "d"}, got)
}

func TestResolve(t *testing.T) {
	fields := set(`ports[port=53,protocol="TCP"].port`, `ports[port=53,protocol="UDP"].port`, `ports[port=53,protocol="UDP"].protocol`, `f[="a"]`, "atomic", `env[name="A"].v`,
		`opt[a=1,b=1]`, `opt[a=2]`, "mix[a=1]", "mix[b=1]")
	manifest := object(`{ports: [{port: 53}, {port: 53, protocol: UDP, x: {y: 1}}, {port: 80}, {port: 81, protocol: TCP}, 7], f: [b, a], atomic: [x],
		env: [{name: B}, {name: A}, {name: B}, {name: A}], opt: [{a: 1, b: 1}, {a: 3}, {b: 1}], mix: [{a: 1}, {b: 1}, {c: 1}, {b: 2}], other: [{name: x}]}`)
	for _, row := range []struct{ path, want, why string }{
		{"ports[0].port", `ports[port=53,protocol="TCP"].port`, "an item that leaves a key field to its default"},
		{"ports[1].x.y", `ports[port=53,protocol="UDP"].x.y`, "one that has it"},
		{`ports[port=53]`, `ports[port=53,protocol="TCP"]`, "a key with fields left out: the first that has the others"},
		{`ports[protocol="UDP"].x`, `ports[port=53,protocol="UDP"].x`, "and here the only one"},
		{"ports[2].port", "ports[2].port", "an item that the fields don't have: nothing tells its protocol"},
		{"ports[3].port", `ports[port=81,protocol="TCP"].port`, "one that has all that the keys of others have"},
		{"ports[4]", "ports[4]", "no item that could have a key"},
		{"ports[9].x", "ports[9].x", "no item"},
		{"f[1]", `f[="a"]`, "an element of a set"},
		{"f[0]", `f[="b"]`, "also one that the fields don't have"},
		{"atomic[0]", "atomic[0]", "an atomic list has positions"},
		{"env[1].v", `env[name="A"].v`, "as recorded"},
		{"env[0].v", `env[name="B"].v`, "as others of the list"},
		{"env[2].v", "env[2].v", "the key is that of another item"},
		{"env[3].v", "env[3].v", "which may be recorded"},
		{"opt[1]", "opt[a=3]", "a key field that others leave out, too"},
		{"opt[2]", "opt[2]", "one that all have"},
		{`ports[port=81]`, `ports[port=81,protocol="TCP"]`, "a part of such a key"},
		{"mix[2]", "mix[2]", "one that has no key field at all"},
		{"mix[3]", "mix[b=2]", "where each item may leave out any"},
		{`other[name="x"].a`, `other[name="x"].a`, "of a list of which nothing is known"},
		{"nothing[0].x", "nothing[0].x", "what isn't there"},
		{"", "", "the object"},
	} {
		o := projection.NewManifest(manifest, fields)
		assert.Equal(t, row.want, o.Resolve(path(row.path)).String(), row.why)
	}
}

func TestParsePointer(t *testing.T) {
	obj := object(`{a/b: {"m~n": 1, "": 2}, l: [{"n": x, v: ["y"]}, z], "0": {"-": 1}}`)
	fields := set(`l[n="x"].v[="y"]`)
	for _, row := range []struct{ pointer, want, why string }{
		{"", "", "the object"},
		{"/a~1b/m~0n", `["a/b"]["m~n"]`, "escapes"},
		{"/a~1b/", `["a/b"][""]`, "the empty name"},
		{"/l/0/v/0", `l[n="x"].v[="y"]`, "items as the fields name them"},
		{"/l/1", "l[1]", "or by position"},
		{"/0/-", `["0"]["-"]`, "names that look like positions"},
		{"l", `!projection: JSON pointer "l": doesn't begin with a slash`, "no pointer"},
		{"/l/2", `!projection: JSON pointer "/l/2": the object has no l[2]`, "behind the end"},
		{"/l/-", `!projection: JSON pointer "/l/-": the object has no l["-"]`, "which is how a patch calls it"},
		{"/l/00", `!projection: JSON pointer "/l/00": the object has no l["00"]`, "a position has one form"},
		{"/l/0/q/r", `!projection: JSON pointer "/l/0/q/r": the object has no l[n="x"].q`, "where it ends"},
	} {
		got, err := projection.ParsePointer(obj, row.pointer, fields)
		if want, isError := strings.CutPrefix(row.want, "!"); isError {
			assert.EqualError(t, err, want, row.why)
			continue
		}
		require.NoError(t, err, row.why)
		assert.Equal(t, row.want, got.String(), row.why)
	}
}

// allPaths returns the path of everything in an object, with positions for all items of lists.
func allPaths(v any) []projection.Path {
	out := []projection.Path{{}}
	below := func(e projection.Element, v any) {
		for _, p := range allPaths(v) {
			out = append(out, append(projection.Path{e}, p...))
		}
	}
	switch v := v.(type) {
	case map[string]any:
		for name, item := range v {
			below(projection.Field(name), item)
		}
	case []any:
		for i, item := range v {
			below(projection.Index(i), item)
		}
	}
	return out
}

func TestPathLaws(t *testing.T) {
	for seed := range rounds {
		r := newRandom(seed)
		obj := r.object(2)
		fields := r.fields(t, obj).Union(r.fields(t, r.object(2)))
		before := asJSON(t, obj)
		o, manifest := projection.NewObject(obj, fields), projection.NewManifest(obj, fields)

		whole := projection.Project(obj, fields)
		missing := projection.NewFieldSet(whole.Missing...)
		for p, v := range whole.Leaves() {
			got, exists := o.Get(p)
			require.True(t, exists, "%s, seed %d", p, seed)
			require.Equal(t, v, got, "what is projected can be got: %s, seed %d", p, seed)
		}
		for p := range fields.All() {
			_, exists := o.Get(p)
			require.Equal(t, missing.Covers(p), !exists, "%s, seed %d\n%s", p, seed, before)
			alone, ok := projection.Get(obj, p)
			single := projection.Project(obj, projection.NewFieldSet(p))
			require.Equal(t, ok, len(single.Missing) == 0, "%s, seed %d", p, seed)
			for _, v := range single.Leaves() {
				require.Equal(t, v, alone, "%s, seed %d", p, seed)
			}
		}
		for _, p := range allPaths(obj) {
			v, exists := projection.Get(obj, p)
			require.True(t, exists, "%s", p)
			pointer, exists := projection.Pointer(obj, p)
			require.True(t, exists, "%s", p)
			named, err := o.ParsePointer(pointer)
			require.NoError(t, err, "%s", p)
			again, exists := o.Pointer(named)
			require.True(t, exists, "%s is %s", p, named)
			require.Equal(t, pointer, again, "%s is %s, seed %d", p, named, seed)
			for _, o := range []*projection.Object{o, manifest} {
				resolved := o.Resolve(p)
				require.Equal(t, resolved, o.Resolve(resolved), "resolving twice is resolving once: %s, seed %d", p, seed)
				got, exists := o.Get(resolved)
				require.True(t, exists, "%s is %s, seed %d\n%s\n%s", p, resolved, seed, before, fields)
				require.Equal(t, v, got, "%s is %s, seed %d", p, resolved, seed)
			}
		}
		require.Equal(t, before, asJSON(t, obj), "reading changes nothing")
	}
}

func TestSetLawsOfValues(t *testing.T) {
	succeeded := 0
	for seed := range rounds {
		r := newRandom(seed)
		obj := r.object(2)
		before := asJSON(t, obj)
		p, _ := r.path(t)
		if r.IntN(2) == 0 {
			p = pick(r, allPaths(obj))
		}
		v := pick(r, someValues)
		if len(p) > 0 && r.IntN(4) > 0 {
			switch last := p[len(p)-1]; last.Kind() {
			case projection.KeyKind:
				v = last.KeyFields()
			case projection.ValueKind:
				v = last.Value()
			}
		}
		changed, err := projection.Set(obj, p, v)
		require.Equal(t, before, asJSON(t, obj), "setting changes nothing, seed %d", seed)
		if err != nil {
			require.ErrorContains(t, err, "projection: set")
			continue
		}
		succeeded++
		got, exists := projection.Get(changed, p)
		require.True(t, exists, "%s, seed %d: %s", p, seed, asJSON(t, changed))
		require.Equal(t, v, got, "what was set can be got: %s, seed %d", p, seed)
		again, err := projection.Set(changed, p, v)
		require.NoError(t, err)
		require.Equal(t, changed, again, "setting twice is setting once: %s, seed %d", p, seed)

		o := projection.NewObject(changed, projection.FieldSet{})
		if len(p) > 0 {
			require.True(t, o.Remove(p), "%s", p)
			_, exists = projection.Get(changed, p)
			_, was := projection.Get(obj, p)
			require.False(t, exists && !was && p[len(p)-1].Kind() == projection.FieldKind, "what was removed is gone: %s, seed %d", p, seed)
		}
	}
	require.Greater(t, succeeded, rounds/4)
}

// Many paths into one long list, read and set, must not compare each with each: that would take minutes.
func TestManyPathsIntoOneList(t *testing.T) {
	n := 5 * rounds
	o := projection.NewManifest(map[string]any{}, projection.FieldSet{})
	of := func(i int) projection.Path {
		k := key(map[string]any{"port": int64(i), "protocol": "TCP"})
		return projection.Path{projection.Field("ports"), k, projection.Field("v")}
	}
	for i := range n {
		require.NoError(t, o.Set(of(i), int64(i)))
		require.NoError(t, o.Set(projection.Path{projection.Field("s"), setValue(int64(i))}, int64(i)))
	}
	for i := range n {
		v, exists := o.Get(of(i))
		require.True(t, exists && v == int64(i))
		require.True(t, o.Remove(of(i)[:2].Child(projection.Field("protocol"))))
		pointer, _ := o.Pointer(of(i))
		require.Equal(t, fmt.Sprintf("/ports/%d/v", i), pointer)
	}
	root, _ := o.Get(nil)
	items := projection.NewManifest(root.(map[string]any), projection.FieldSet{})
	fields := projection.NewFieldSet(of(n), path(`s[="x"]`))
	resolver := projection.NewManifest(root.(map[string]any), fields)
	for i := range n {
		_, exists := items.Get(of(i))
		require.True(t, exists, "left out, and found by the rest of the key")
		require.Equal(t, fmt.Sprintf("s[=%d]", i), resolver.Resolve(projection.Path{projection.Field("s"), projection.Index(i)}).String())
	}
}

func FuzzPaths(f *testing.F) {
	for name, object := range realObjects(f) {
		for _, entry := range managedEntries(f, object) {
			f.Add(object, entry, `spec.template.spec.containers[name="c"].image`, []byte(`"x"`))
		}
		_ = name
	}
	f.Add([]byte(`{"a":[1,"x",null,{"n":1},[2],{"n":9007199254740993}]}`), []byte(`{"f:a":{"k:{\"n\":9007199254740992}":{},"v:\"x\"":{},"i:3":{}}}`), `a[n=1].x[0]`, []byte(`{"n":2}`))
	f.Add([]byte(`{"a":null,"l":[{}]}`), []byte(`{"f:l":{"k:{\"n\":\"\"}":{}}}`), `l[n=""]["a/~b"][="c"][0]`, []byte(`null`))
	f.Fuzz(func(t *testing.T, content, record []byte, text string, value []byte) {
		var obj map[string]any
		var v any
		fields, err := projection.ParseFieldsV1(record)
		if err != nil || json.Unmarshal(content, &obj) != nil || obj == nil || json.Unmarshal(value, &v) != nil {
			return
		}
		before := asJSON(t, obj)
		for _, o := range []*projection.Object{projection.NewObject(obj, fields), projection.NewManifest(obj, fields)} {
			for _, p := range allPaths(obj) {
				want, _ := projection.Pointer(obj, p)
				named, err := projection.ParsePointer(obj, want, fields)
				require.NoError(t, err)
				got, _ := projection.NewObject(obj, fields).Pointer(named)
				require.Equal(t, want, got, "%s is %s", p, named)
				pointer, exists := o.Pointer(o.Resolve(p))
				require.True(t, exists)
				require.Equal(t, want, pointer)
			}
		}
		p, err := projection.ParsePath(text)
		if err != nil {
			return
		}
		_, exists := projection.Get(obj, p)
		require.Equal(t, exists, len(projection.Project(obj, projection.NewFieldSet(p)).Missing) == 0)
		changed, err := projection.Set(obj, p, v)
		require.Equal(t, before, asJSON(t, obj))
		if err != nil {
			return
		}
		got, exists := projection.Get(changed, p)
		require.True(t, exists)
		require.Equal(t, v, got)
	})
}
