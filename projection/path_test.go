package projection_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/structured-merge-diff/v4/value"

	"github.com/ssaplan/primitives/internal/rows"
	"github.com/ssaplan/primitives/projection"
)

func key(fields map[string]any) projection.Element {
	e, err := projection.Key(fields)
	if err != nil {
		panic(err)
	}
	return e
}

func setValue(v any) projection.Element {
	e, err := projection.Value(v)
	if err != nil {
		panic(err)
	}
	return e
}

func path(text string) projection.Path {
	p, err := projection.ParsePath(text)
	if err != nil {
		panic(err)
	}
	return p
}

func TestPathText(t *testing.T) {
	f := projection.Field
	for _, test := range []struct {
		text string
		path projection.Path
		why  string
	}{
		{"", projection.Path{}, "the object itself"},
		{"spec.replicas", projection.Path{f("spec"), f("replicas")}, "the common case needs no quotes"},
		{`data["config.yaml"]`, projection.Path{f("data"), f("config.yaml")}, "a dot in a key is no step"},
		{`metadata.annotations["a.b/c"]`, projection.Path{f("metadata"), f("annotations"), f("a.b/c")}, "nor is a slash"},
		{`["a.b"]`, projection.Path{f("a.b")}, "also at the start"},
		{`[""]`, projection.Path{f("")}, "the empty key"},
		{`["0"]`, projection.Path{f("0")}, "a key that is a number is not a position"},
		{`[0]`, projection.Path{projection.Index(0)}, "a position"},
		{`a["["]`, projection.Path{f("a"), f("[")}, "a bracket in a key, which has crashed others"},
		{`a["b\"c\\"]`, projection.Path{f("a"), f(`b"c\`)}, "quotes and backslashes"},
		{"AZ.az.a0-9$_", projection.Path{f("AZ"), f("az"), f("a0-9$_")}, "all that needs no quotes"},
		{`["@"]["["]["/"][":"]["-a"]`, projection.Path{f("@"), f("["), f("/"), f(":"), f("-a")}, "and what is next to that"},
		{`a["日本"]`, projection.Path{f("a"), f("日本")}, "letters outside ASCII are shown as they are"},
		{`a["\u202etxt"]`, projection.Path{f("a"), f("\u202etxt")}, "what would turn the text around on a terminal is not"},
		{`a["\u001b[31m"]`, projection.Path{f("a"), f("\x1b[31m")}, "nor are escape sequences"},
		{`a["\udb40\udc41"]`, projection.Path{f("a"), f("\U000e0041")}, "nor invisible characters outside the first plane"},
		{`a[name="app"].b`, projection.Path{f("a"), key(map[string]any{"name": "app"}), f("b")}, "an element by key"},
		{`a[containerPort=80,protocol="TCP"]`, projection.Path{f("a"), key(map[string]any{"protocol": "TCP", "containerPort": int64(80)})}, "key fields are sorted"},
		{`a["x.y"=true,z=null]`, projection.Path{f("a"), key(map[string]any{"x.y": true, "z": nil})}, "odd names and values of key fields"},
		{`a[n="]"]`, projection.Path{f("a"), key(map[string]any{"n": "]"})}, "a bracket in a value"},
		{`a[{}]`, projection.Path{f("a"), key(map[string]any{})}, "a key without fields"},
		{`a[="x/y"]`, projection.Path{f("a"), setValue("x/y")}, "a set element"},
		{`a[=5]`, projection.Path{f("a"), setValue(int64(5))}, "a number in a set is not a position"},
		{`a[="5"]`, projection.Path{f("a"), setValue("5")}, "and not a string"},
	} {
		assert.Equal(t, test.text, test.path.String(), test.why)
		parsed, err := projection.ParsePath(test.text)
		require.NoError(t, err, test.why)
		assert.True(t, test.path.Equal(parsed), test.why)
	}
}

func TestParsePathErrors(t *testing.T) {
	for _, test := range rows.Read[struct{ Text, Want, Why string }](t, "patherrors") {
		_, err := projection.ParsePath(test.Text)
		require.Error(t, err, test.Why)
		assert.Contains(t, err.Error(), test.Want, test.Why)
		assert.Contains(t, err.Error(), "projection: path ", test.Why)
	}
}

func TestElementsOfOneMeaningAreEqual(t *testing.T) {
	type name string
	for _, test := range []struct {
		a, b projection.Element
		why  string
	}{
		{key(map[string]any{"port": 80}), key(map[string]any{"port": int64(80)}), "an int in a literal"},
		{key(map[string]any{"port": 80.0}), key(map[string]any{"port": int64(80)}), "a float from a decoder: the server compares by number"},
		{setValue(float64(1 << 53)), setValue(int64(1 << 53)), "as far as a float is exact"},
		{setValue(name("x")), setValue("x"), "a named type"},
		{setValue(math.Copysign(0, -1)), setValue(int64(0)), "JSON has -0"},
		{setValue(struct{ B, A int }{1, 2}), setValue(map[string]any{"A": 2, "B": 1}), "order of fields"},
		{key(nil), key(map[string]any{}), "no key"},
		{setValue("\x80"), setValue("\ufffd"), "bytes that aren't text in a value"},
		{projection.Field("a\xff"), projection.Field("a\ufffd"), "bytes that aren't text"},
		{projection.Index(-1), projection.Index(0), "no position"},
	} {
		assert.Equal(t, test.a, test.b, test.why)
		assert.Zero(t, test.a.Compare(test.b), test.why)
	}
	_, err := projection.Key(map[string]any{"a": func() {}})
	assert.ErrorContains(t, err, "projection: key fields: ")
	_, err = projection.Value(make(chan int))
	assert.ErrorContains(t, err, "projection: set value: ")
}

func TestElementParts(t *testing.T) {
	var zero projection.Element
	assert.Equal(t, projection.Field(""), zero, "the zero element is the field with the empty name")
	for _, test := range []struct {
		element   projection.Element
		kind      projection.ElementKind
		name      string
		keyFields map[string]any
		value     any
		index     int
	}{
		{projection.Field("a"), projection.FieldKind, "a", nil, nil, -1},
		{key(map[string]any{"n": "x", "p": int64(1 << 60), "f": 0.5}), projection.KeyKind, "", map[string]any{"n": "x", "p": int64(1 << 60), "f": 0.5}, nil, -1},
		{setValue("x"), projection.ValueKind, "", nil, "x", -1},
		{projection.Index(7), projection.IndexKind, "", nil, nil, 7},
	} {
		assert.Equal(t, test.kind, test.element.Kind())
		assert.Equal(t, test.name, test.element.Name())
		assert.Equal(t, test.keyFields, test.element.KeyFields())
		assert.Equal(t, test.value, test.element.Value())
		assert.Equal(t, test.index, test.element.Index())
	}
}

// An element has the value that it was made of, whatever its text looks like.
func TestElementsKeepTheirValues(t *testing.T) {
	values := append([]any{"\x1f", "\x7f", []any{int64(1), "a,}]", map[string]any{`"}`: nil}}, map[string]any{"b": []any{}, "a": "x"}}, someValues...)
	for _, a := range values {
		assert.Equal(t, a, setValue(a).Value())
		for _, b := range values {
			fields := map[string]any{"a": a, `b"\`: b, "c": "end"}
			p := projection.Path{key(fields)}
			assert.Equal(t, fields, p[0].KeyFields())
			assert.Equal(t, p, path(p.String()))
			read, err := projection.ParseFieldsV1(projection.NewFieldSet(p).FieldsV1())
			require.NoError(t, err, p)
			assert.True(t, read.Has(p), p)
		}
	}
}

// Servers use no lists and maps as keys, but who reads a record must not lose an entry because of one.
func TestElementOrderOfLists(t *testing.T) {
	for seed := range 20 * rounds {
		r := newRandom(seed)
		a, b := r.composite(2), r.composite(2)
		want := value.NewValueInterface(a)
		require.Equal(t, value.Compare(want, value.NewValueInterface(b)), setValue(a).Compare(setValue(b)), "%v and %v", a, b)
	}
}

// Numbers near the limits of both number types must still have one order, or searching a set goes astray.
func TestElementOrderOfLargeNumbers(t *testing.T) {
	ordered := []any{-1e300, float64(-1 << 63), int64(-1 << 62), int64(-1), -0.5, int64(0), 0.5, int64(1<<53 + 1), int64(1<<53 + 2),
		int64(1<<63 - 2), int64(1<<63 - 1), float64(1 << 63), 1e300}
	for i, a := range ordered {
		for j, b := range ordered {
			want := min(max(i-j, -1), 1)
			assert.Equal(t, want, setValue(a).Compare(setValue(b)), "%v and %v", a, b)
		}
	}
}

func TestPathMethods(t *testing.T) {
	p := path("a.b")
	child := p.Child(projection.Field("c"))
	_ = p.Child(projection.Field("d"))
	assert.Equal(t, "a.b.c", child.String(), "children share no memory")
	assert.True(t, child.HasPrefix(p) && child.HasPrefix(nil) && !p.HasPrefix(child))
	assert.False(t, path("metadata.labels").HasPrefix(path("metadata.label")), "a prefix of a name is no prefix of a path")
	assert.Negative(t, p.Compare(child))

	text, err := child.MarshalText()
	require.NoError(t, err)
	var back projection.Path
	require.NoError(t, back.UnmarshalText(text))
	assert.True(t, back.Equal(child))
	require.Error(t, back.UnmarshalText([]byte("a[")))
	assert.True(t, back.Equal(child), "an error changes nothing")
}
