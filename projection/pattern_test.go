package projection_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/projection"
)

func TestPatternMatch(t *testing.T) {
	for _, test := range []struct {
		pattern, path string
		want          bool
		why           string
	}{
		{"spec.replicas", "spec.replicas", true, "the place itself"},
		{"spec.replicas", "spec", false, "what lies above is not matched"},
		{"spec", "spec.replicas", true, "a subtree"},
		{"metadata.label", "metadata.labels", false, "a prefix of a name is another name"},
		{"metadata.label", "metadata.labels.a", false, "also above"},
		{`metadata.labels["a.b"]`, "metadata.labels.a.b", false, "a dot in a name is no step"},
		{"metadata.annotations.*", `metadata.annotations["a/b"]`, true, "any field"},
		{"metadata.annotations.*", "metadata.annotations", false, "which is not the map itself"},
		{"*.a", "spec.a", true, "at the start"},
		{"*.a", "spec.b", false, "and no other"},
		{"list.*", `list[name="a"]`, false, "an element is no field"},
		{"list[*]", `list[name="a"].x`, true, "any element, by key"},
		{"list[*]", `list[="a"]`, true, "by value"},
		{"list[*]", `list[3]`, true, "by position"},
		{"list[*]", "list.a", false, "a field is no element"},
		{"list[*].image", `list[name="a"].image`, true, "below any element"},
		{`list[name="a"]`, `list[name="a"].image`, true, "by key"},
		{`list[name="a"]`, `list[name="ab"]`, false, "the whole value"},
		{`list[port=80]`, `list[port=80,protocol="TCP"]`, true, "other key fields may be anything"},
		{`list[port=80,protocol="UDP"]`, `list[port=80,protocol="TCP"]`, false, "those that are named may not"},
		{`list[port=80]`, `list[port="80"]`, false, "a text is no number"},
		{`list[port=80,protocol="TCP"]`, `list[port=80]`, false, "a key field that isn't there"},
		{`list[{}]`, `list[{}]`, true, "the key without fields"},
		{`list[{}]`, `list[port=80]`, false, "and nothing else"},
		{`list[name~"istio-*"]`, `list[name="istio-proxy"].image`, true, "with wildcards"},
		{`list[name~"istio-*"]`, `list[name="my-istio-proxy"]`, false, "from the start"},
		{`list[name~"*"]`, `list[name=5]`, false, "wildcards are for texts"},
		{`list[port=80,name~"a*"]`, `list[name="ab",port=80]`, true, "both kinds of comparison"},
		{`list[port=80,name~"a*"]`, `list[name="ab",port=81]`, false, "must hold"},
		{`a[~"example.io/*"]`, `a["example.io/x"]`, true, "names with wildcards"},
		{`a[~"example.io/*"]`, `a["exampleXio/x"]`, false, "a dot is a dot"},
		{`a[~"*.io/*"]`, `a["x.io/y"]`, true, "several"},
		{`a[~"*"]`, `a["x\ny"]`, true, "any text, on however many lines"},
		{`a[~"a|b"]`, "a.a", false, "it is no regular expression"},
		{`f[~"x/*"]`, `f[="x/y"]`, true, "elements of a set"},
		{`f[~"5*"]`, `f[=5]`, false, "if they are texts"},
		{`f[~"*"]`, `f[=5]`, false, "which a number isn't"},
		{`f[="x"]`, `f[="x"]`, true, "a value"},
		{`f["~x"]`, `f["~x"]`, true, "a tilde in a name is a tilde"},
		{`f["*"]`, "f.a", false, "and a star in quotes is a star"},
		{`f[a="x~y"]`, `f[a="x~y"]`, true, "also in a value"},

		{"/spec/replicas", "spec.replicas", true, "a JSON pointer"},
		{"/spec/replica", "spec.replicas", false, "which has whole names"},
		{"/metadata/annotations/a~1b~01", `metadata.annotations["a/b~1"]`, true, "with its escapes"},
		{"/a/0/b", "a[0].b", true, "a number in it is a position"},
		{"/a/0/b", `a["0"].b`, true, "or a name"},
		{"/a/00", "a[0]", false, "if it is written as numbers are"},
		{"/a/x", "a[0]", false, "or a position at all"},
		{"/a/9999999999999999999999", "a[9]", false, "of a list that there can be"},
		{"/a/-1", "a[1]", false, "a position has no sign"},
		{"/a/*", "a.b", false, "there are no wildcards in a pointer"},
		{"/*", `["*"]`, true, "a star is a name"},

		{"$.spec.replicas", "spec.replicas", true, "JSONPath starts with a dollar"},
		{"$['spec'].replicas", "spec.replicas", true, "has names in single quotes"},
		{`a['it\'s']`, `a["it's"]`, true, "in which a backslash takes the quote for a part of the name"},
		{".spec.replicas", "spec.replicas", true, "or with a dot"},
		{"$", "$", true, "a name may be a dollar"},
		{"$spec", "$spec", true, "a name may start with a dollar"},
		{"c[?(@.name=='app')].image", `c[name="app"].image`, true, "and has conditions"},
		{"c[?(@.name=='app')].image", `c[name="app2"].image`, false, "that don't hold for every item"},
		{"c[?@.name == \"app\"]", `c[name="app"]`, true, "without parentheses, with other quotes and spaces"},
		{"c[?( @['name']=='app' && @.port==80 )]", `c[name="app",port=80]`, true, "several"},
		{"c[?(@.name=='app'&&@.port==80)]", `c[name="app",port=81]`, false, "that must all hold"},
		{`c[?(@["name"]=='app')]`, `c[name="app"]`, true, "with names in other quotes"},
		{"c[?(@.on==true)]", `c[on=true]`, true, "with values of any kind"},

		{"metadata.annotations.example.io/owner", `metadata.annotations["example.io/owner"]`, true, "an annotation has dots"},
		{"metadata.annotations.example.io/*", `metadata.annotations["example.io/owner"]`, true, "and a star is none of its characters"},
		{"metadata.annotations.example.io/*", `metadata.annotations["example.com/owner"]`, false, "but any others"},
		{"spec.template.metadata.labels.app.kubernetes.io/name", `spec.template.metadata.labels["app.kubernetes.io/name"]`, true, "a label too"},
		{"spec.selector.matchLabels.a.b", `spec.selector.matchLabels["a.b"]`, true, "and what selects it"},
		{"metadata.labels.app", "metadata.labels.app", true, "most have none"},
		{"metadata.labels.*", `metadata.labels["a.b"]`, true, "and any is any"},
		{`metadata.labels["a.b"]`, `metadata.labels["a.b"]`, true, "and with quotes"},
		{"spec.labels.a.b", "spec.labels.a.b", true, "elsewhere they may be anything"},
		{"annotations.a.b", "annotations.a.b", true, "also at the top"},
		{"data.tls.crt", `data["tls.crt"]`, true, "names with dots between them are one name with dots"},
		{"data.tls.crt", "data.tls.crt", true, "and as many"},
		{"data.tls.crt", `data["tls.crt"].x`, true, "of which all that is below matches"},
		{"data.tls.crt.x", `data["tls.crt"].x`, true, "or a part"},
		{"data.tls.crt.x", `data["tls.crt"].z`, false, "and no other part"},
		{"data.tls.crt", `data["tls.cr"]`, false, "the whole name"},
		{"data.tls.crt", `data["tls.crt.x"]`, false, "and no more"},
		{"data.tls.crt", `data["tls-crt.a"]`, false, "with the dots where they are"},
		{"data.tls.crt", `data["tlscrt.a"]`, false, "and not without them"},
		{`data["tls"].crt`, `data["tls.crt"]`, false, "a name in quotes is one"},
		{`data.tls["crt"]`, `data["tls.crt"]`, false, "and so is the next"},
		{"data.*.crt", `data["tls.crt"]`, false, "a wildcard is a name"},
		{"/data/tls/crt", `data["tls.crt"]`, false, "and so is a part of a pointer"},
		{"data.tls.crt", "data.tls", false, "which isn't all of it"},
	} {
		p, err := projection.ParsePattern(test.pattern)
		require.NoError(t, err, test.pattern)
		assert.Equal(t, test.want, p.Match(path(test.path)), "%s and %s: %s", test.pattern, test.path, test.why)

		kept, matched := projection.Patterns{p}.Split(set(test.path))
		assert.Equal(t, test.want, kept.Empty(), "a set is split alike: %s and %s", test.pattern, test.path)
		assert.Equal(t, test.want, !matched.Empty(), "%s and %s", test.pattern, test.path)

		text, err := p.MarshalText()
		require.NoError(t, err)
		var back projection.Pattern
		require.NoError(t, back.UnmarshalText(text))
		assert.Equal(t, p.String(), back.String())
	}
}

func TestParsePatternErrors(t *testing.T) {
	for _, test := range []struct{ pattern, want, why string }{
		{"", "would match everything", "nothing said"},
		{"a[", "at byte 2: expected a name, a position or =value", "no end"},
		{"a.", "at byte 2: expected a field name", "no name"},
		{"a*", `expected "." or "["`, "a star in a bare name, which needs ~"},
		{"a[*", `expected "]"`, "no end after a star"},
		{`a[~"x"`, `expected "]"`, "no end after a text"},
		{"a[~5]", `expected a quoted string after "~"`, "no text"},
		{"a[~x]", "expected a JSON value", "no quotes"},
		{`a[name~]`, "expected a JSON value", "no text for a key"},
		{`a[name~"x",]`, "expected a name", "a comma too many"},
		{`a[name~"x",b]`, `expected`, "a name alone"},
		{`a[name~"x"`, `expected "]"`, "no end of a key"},
		{"/", `"" is no name in a JSON pointer`, "a pointer to the field without a name"},
		{"/a//b", `"" is no name`, "and one in between"},
		{"/a~2", `"a~2" is no name`, "no escape"},
		{"$.", "expected a field name", "nothing after the root"},
		{"..image", "expected a field name", "JSONPath's descent"},
		{"a[?", "expected @. and a field of the item", "a condition without anything"},
		{"a[?(@.b)]", `expected "==" after the field "b"`, "one of existence"},
		{"a[?(@.b!='x')]", `expected "=="`, "one of inequality"},
		{"a[?(@.b.c=='x')]", `expected "=="`, "one of a field further down"},
		{"a[?(@.b=='x' || @.b=='y')]", `expected ")": only fields of the item can be compared, by == and joined by &&`, "an alternative"},
		{"a[?(@.b=='x)]", "the quoted string has no end", "no end of a text"},
		{"a[?(@.b==x)]", "expected a JSON value", "a value without quotes"},
		{"metadata.labels.a.\xff*", "UTF-8", "bytes that are no text"},
		{"a[?(@[5]=='x')]", "expected a quoted string", "a position in a condition"},
		{"a[?(@['b'=='x')]", `expected "]"`, "no end of a name"},
		{"a[?(@.b=='x')", `expected "]"`, "no end of a condition"},
		{"a['b", "no end", "no end of a name in single quotes"},
		{`a['b\`, "no end", "nor after a backslash"},
		{"a['b'", `expected "]"`, "no end after it"},
	} {
		_, err := projection.ParsePattern(test.pattern)
		require.ErrorContains(t, err, test.want, test.why)
		assert.Contains(t, err.Error(), "projection: pattern ", test.why)
	}
	_, err := projection.ParsePatterns("a", "a[")
	require.Error(t, err)
	assert.Error(t, new(projection.Pattern).UnmarshalText([]byte("a[")))
	assert.False(t, projection.Pattern{}.Match(path("a")), "the zero pattern matches nothing")
}

// A path as text may mean something else as a pattern; a pattern made of it doesn't.
func TestPatternOf(t *testing.T) {
	for _, text := range []string{"metadata.labels.a.b", "spec.c[0]", `spec.c[name="a",port=80].x`, `f[="v"]`, `l[{}]`, `["/a"]`} {
		at := path(text)
		p := projection.PatternOf(at)
		assert.True(t, p.Match(at), text)
		assert.True(t, p.Match(append(at, projection.Field("below"))), text)
		assert.False(t, p.Match(at[:len(at)-1]), text)
		assert.Equal(t, text, p.String())
	}
	assert.False(t, projection.PatternOf(path("metadata.labels.a.b")).Match(path(`metadata.labels["a.b"]`)))
	assert.False(t, projection.PatternOf(nil).Match(path("a")))
}

func patterns(texts ...string) projection.Patterns {
	ps, err := projection.ParsePatterns(texts...)
	if err != nil {
		panic(err)
	}
	return ps
}

func TestPatternsSplit(t *testing.T) {
	all := set("spec.replicas", `spec.c[name="a"]`, `spec.c[name="a"].image`, `spec.c[name="a"].env[name="x"].value`,
		`spec.c[name="b"]`, `spec.c[name="b"].image`, "spec.args")
	kept, matched := patterns("spec.replicas", "spec.c[*].image", "spec.args[0]", "nope").Split(all)
	assert.Equal(t, "spec.replicas\nspec.c[name=\"a\"].image\nspec.c[name=\"b\"].image\n", sortedText(matched))
	assert.True(t, kept.Has(path("spec.args")), "an atomic list can't be split")
	assert.True(t, kept.Has(path(`spec.c[name="a"]`)))
	assert.True(t, kept.Union(matched).Equal(all) && kept.Intersection(matched).Empty(), "every path is in one of the two")

	for _, none := range []projection.Patterns{nil, {projection.Pattern{}}} {
		kept, matched = none.Split(all)
		assert.True(t, kept.Equal(all) && matched.Empty())
		_, removed := none.Remove(object(`{spec: {a: 1}}`))
		assert.Empty(t, removed)
	}
}

// sortedText puts the field first that the text of the set has after the list.
func sortedText(s projection.FieldSet) string {
	lines := strings.SplitAfter(s.String(), "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, "spec.replicas") {
			return line + strings.Join(append(lines[:i:i], lines[i+1:]...), "")
		}
	}
	return s.String()
}

// TestPatternsTouch has names with dots that a pattern has without quotes.
func TestPatternsTouch(t *testing.T) {
	ps := patterns("data.tls.crt", "spec.a.b.c")
	for text, want := range map[string]bool{
		"data": true, "data.tls": true, `data["tls.crt"]`: true, `data["tls.crt"].x`: true, `data["tls.key"]`: false,
		`spec["a.b"]`: true, `spec["a.b"].c`: true, `spec["a.b"].d`: false, `spec.a["b.c"]`: true, `status["a.b"]`: false,
	} {
		assert.Equal(t, want, ps.Touches(path(text)), text)
	}
}

func TestPatternsWithoutPositions(t *testing.T) {
	ps := patterns("spec.a", "l[1]", "l[1].x", `l[name="a"]`, "l[*].x", `m["1"]`, `f[="b"]`)
	assert.Equal(t, patterns("spec.a", `l[name="a"]`, "l[*].x", `m["1"]`, `f[="b"]`), ps.WithoutPositions())
	assert.Len(t, ps, 7, "the patterns are left alone")
	assert.Empty(t, patterns("l[1]").WithoutPositions())
}
