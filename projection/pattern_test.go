package projection_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/internal/rows"
	"github.com/ssaplan/primitives/projection"
)

func TestPatternMatch(t *testing.T) {
	for _, test := range rows.Read[struct {
		Pattern, Path string
		Want          bool
		Why           string
	}](t, "patterns") {
		p, err := projection.ParsePattern(test.Pattern)
		require.NoError(t, err, test.Pattern)
		assert.Equal(t, test.Want, p.Match(path(test.Path)), "%s and %s: %s", test.Pattern, test.Path, test.Why)

		kept, matched := projection.Patterns{p}.Split(set(test.Path))
		assert.Equal(t, test.Want, kept.Empty(), "a set is split alike: %s and %s", test.Pattern, test.Path)
		assert.Equal(t, test.Want, !matched.Empty(), "%s and %s", test.Pattern, test.Path)

		text, err := p.MarshalText()
		require.NoError(t, err)
		var back projection.Pattern
		require.NoError(t, back.UnmarshalText(text))
		assert.Equal(t, p.String(), back.String())
	}
}

func TestParsePatternErrors(t *testing.T) {
	for _, test := range rows.Read[struct{ Pattern, Want, Why string }](t, "patternerrors") {
		_, err := projection.ParsePattern(test.Pattern)
		require.ErrorContains(t, err, test.Want, test.Why)
		assert.Contains(t, err.Error(), "projection: pattern ", test.Why)
	}
	_, err := projection.ParsePattern("metadata.labels.a.\xff*")
	require.ErrorContains(t, err, "projection: pattern")
	require.ErrorContains(t, err, "UTF-8", "bytes that are no text")
	_, err = projection.ParsePatterns("a", "a[")
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
