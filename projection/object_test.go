package projection_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/util/json"

	"github.com/ssaplan/primitives/internal/rows"
	"github.com/ssaplan/primitives/projection"
)

func TestGet(t *testing.T) {
	obj := object(`{"a.b": 1, "a": {"b": 2, "none": null}, "set": ["x", 5, {"k": 1}, "x"], "ids": [9007199254740993], "exact": [9007199254740993, 9007199254740992], "secrets": [{"name": "a"}, {}], "both": [{}, {"name": ""}],
		"ports": [{"p": 80, "q": "TCP", "n": 1}, {"p": 80, "n": 2}, {"p": 80, "q": "TCP", "n": 3}, "odd", {"n": 4}],
		"by": [{"id": 9007199254740993, "v": 1}, {"id": 9007199254740992, "v": 2}, {"id": 9007199254740995, "v": 3}]}`)
	for _, row := range rows.Read[struct {
		Path    string
		Pointer string // "" if there is nothing
		Want    string
		Why     string
	}](t, "get") {
		got, exists := projection.Get(obj, path(row.Path))
		assert.Equal(t, row.Pointer != "", exists, "%s: %s", row.Path, row.Why)
		assert.Equal(t, fromYAML(row.Want), got, "%s: %s", row.Path, row.Why)
		pointer, exists := projection.Pointer(obj, path(row.Path))
		assert.Equal(t, row.Pointer != "", exists, "%s: %s", row.Path, row.Why)
		assert.Equal(t, row.Pointer, pointer, "%s: %s", row.Path, row.Why)
		alone := projection.Project(obj, set(row.Path))
		assert.Equal(t, exists, len(alone.Missing) == 0, "%s: %s", row.Path, row.Why)
	}
	whole, exists := projection.Get(obj, nil)
	assert.Equal(t, obj, whole)
	assert.True(t, exists)
	_, exists = projection.Get(nil, nil)
	assert.False(t, exists, "no object")
	_, exists = projection.Get(nil, path("a"))
	assert.False(t, exists, "nothing in no object")
}

func TestGetWithFields(t *testing.T) {
	for _, row := range rows.Read[struct {
		Obj      string
		Fields   []string
		Path     string
		Manifest bool
		Want     string // "" if there is nothing
		Why      string
	}](t, "getwithfields") {
		o := projection.NewObject(object(row.Obj), set(row.Fields...))
		if row.Manifest {
			o = projection.NewManifest(object(row.Obj), set(row.Fields...))
		}
		for range 2 { // the second time from the index
			got, exists := o.Get(path(row.Path))
			assert.Equal(t, row.Want != "", exists, "%s: %s", row.Path, row.Why)
			assert.Equal(t, fromYAML(row.Want), got, "%s: %s", row.Path, row.Why)
		}
	}
}

func TestSet(t *testing.T) {
	for _, row := range rows.Read[struct {
		Obj, Path string
		Value     string
		Want      string // or the error, if it begins with !
		Why       string
	}](t, "set") {
		obj := object(row.Obj)
		got, err := projection.Set(obj, path(row.Path), fromYAML(row.Value))
		assert.Equal(t, object(row.Obj), obj, "the object isn't modified")
		if want, isError := strings.CutPrefix(row.Want, "!"); isError {
			assert.EqualError(t, err, want, row.Why)
			assert.Nil(t, got)
			continue
		}
		require.NoError(t, err, row.Why)
		assert.Equal(t, object(row.Want), got, row.Why)
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
	for _, row := range rows.Read[struct{ Path, Want, Why string }](t, "resolve") {
		o := projection.NewManifest(manifest, fields)
		assert.Equal(t, row.Want, o.Resolve(path(row.Path)).String(), row.Why)
	}
}

func TestParsePointer(t *testing.T) {
	obj := object(`{a/b: {"m~n": 1, "": 2}, l: [{"n": x, v: ["y"]}, z], "0": {"-": 1}}`)
	fields := set(`l[n="x"].v[="y"]`)
	for _, row := range rows.Read[struct{ Pointer, Want, Why string }](t, "pointers") {
		got, err := projection.ParsePointer(obj, row.Pointer, fields)
		if want, isError := strings.CutPrefix(row.Want, "!"); isError {
			assert.EqualError(t, err, want, row.Why)
			continue
		}
		require.NoError(t, err, row.Why)
		assert.Equal(t, row.Want, got.String(), row.Why)
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
	for _, object := range realObjects(f) {
		for _, entry := range managedEntries(f, object) {
			f.Add(object, entry, `spec.template.spec.containers[name="c"].image`, []byte(`"x"`))
		}
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
