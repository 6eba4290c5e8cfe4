package projection_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/projection"
)

// A host may call more sensitive than the data of Secrets, wherever it stands.
func TestRedactedPaths(t *testing.T) {
	const text = `{a: {x: 1, z: {z: 2}}, list: [{k: other, v: 3}, {k: mine, v: 4}, {k: mine, v: 5}], set: [p, q], plain: [{v: 6}, {v: 7}], none: null}`
	for _, row := range []struct{ path, want, why string }{
		{"a.x", `{"a":{"x":"<redacted>","z":{"z":2}},`, "a field"},
		{"a", `{"a":{"x":"<redacted>","z":"<redacted>"},`, "of a map the keys stay"},
		{`list[k="mine"].v`, `"list":[{"k":"other","v":3},{"k":"mine","v":"<redacted>"},{"k":"mine","v":"<redacted>"}]`, "items by key, each that has it"},
		{`list[k="mine"]`, `"list":[{"k":"other","v":3},{"k":"<redacted>","v":"<redacted>"},{"k":"<redacted>","v":"<redacted>"}]`, "whole items"},
		{"list", `"list":"<redacted>"`, "a whole list"},
		{`set[="q"]`, `"set":["p","<redacted>"]`, "an element of a set"},
		{"plain[1].v", `"plain":[{"v":6},{"v":"<redacted>"}]`, "an item by position"},
		{"none", `"none":null`, "nothing to hide"},
		{"a.x.below", `"a":{"x":1,`, "nothing there"},
		{"a[0]", `"a":{"x":1,`, "no list"},
		{"list.k", `"list":[{"k":"other","v":3}`, "no map"},
		{`list[k="gone"].v`, `{"k":"mine","v":4}`, "no such item"},
		{"", `{"a":"<redacted>","list":"<redacted>","none":"<redacted>","plain":"<redacted>","set":"<redacted>"}`, "everything"},
	} {
		p := projection.Project(object(text), projection.NewFieldSet(projection.Path{}))
		p.Sensitive = projection.NewFieldSet(path(row.path))
		assert.Contains(t, p.String(), row.want, row.why)
		assert.Equal(t, object(text), p.Object, "%s: the projection itself keeps its values", row.why)
	}
}

func TestReplaceSensitiveTellsPathsOnce(t *testing.T) {
	p := projection.Project(object(`{list: [{k: a, v: {x: 1}}, {k: b}], s: [1]}`), projection.NewFieldSet(projection.Path{}))
	p.Sensitive = projection.NewFieldSet(path(`list[k="a"].v`), path(`list[k="a"].v.x`), path(`s`))
	var got []string
	p.ReplaceSensitive(func(at projection.Path, v any) any {
		got = append(got, fmt.Sprint(at, "=", v))
		return v
	})
	assert.Equal(t, []string{`list[k="a"].v.x=1`, `s=[1]`}, got)
}

func TestNothingToRedact(t *testing.T) {
	for _, p := range []projection.Projection{{}, {Object: map[string]any{}}} {
		p.Sensitive = projection.NewFieldSet(projection.Path{})
		assert.Equal(t, p.Object, p.Redacted().Object)
	}
}

// What a host names is sensitive beside what is so by its kind, with all that lies around a name or in it.
func TestWithSensitive(t *testing.T) {
	fields := projection.NewFieldSet(path("a.x"), path("a.y"), path("m"), path("kind"))
	for _, row := range []struct {
		why      string
		patterns []string
		want     string
	}{
		{"no pattern", nil, "a.y\n"},
		{"none that matches", []string{"b"}, "a.y\n"},
		{"a field", []string{"a.x"}, "a.x\na.y\n"},
		{"a map of fields", []string{"a"}, "a.x\na.y\n"},
		{"a field of a map that is a whole", []string{"m.x"}, "a.y\nm\n"},
	} {
		patterns, err := projection.ParsePatterns(row.patterns...)
		assert.NoError(t, err)
		p := projection.Project(object(`{kind: A, a: {x: 1, y: 2}, m: {x: 3}}`), fields)
		p.Sensitive = projection.NewFieldSet(path("a.y"))
		hidden := p.WithSensitive(patterns)
		assert.Equal(t, row.want, hidden.Sensitive.String(), row.why)
		assert.Equal(t, "a.y\n", p.Sensitive.String(), "%s: the projection itself stays as it is", row.why)
		hidden.Sensitive = p.Sensitive
		assert.Equal(t, p, hidden, "%s: nothing else changes", row.why)
	}
}

// Items of sets and of lists with keys are called by values, which are in every path to them.
func TestShownPaths(t *testing.T) {
	for _, row := range []struct{ pattern, path, want string }{
		{"spec.tokens[*]", `spec.tokens[="a"]`, "spec.tokens"},
		{"spec.tokens", `spec.tokens[="a"]`, "spec.tokens"},
		{"spec", `spec.tokens[="a"]`, "spec.tokens"},
		{"spec.tokens[3]", `spec.tokens[="a"]`, "spec.tokens"},
		{"/spec/tokens/3", `spec.tokens[="a"]`, "spec.tokens"},
		{`spec.tokens[~"a*"]`, `spec.tokens[="abc"].x`, "spec.tokens"},
		{`spec.tokens[~"a*"]`, `spec.tokens[="b"]`, `spec.tokens[="b"]`},
		{"spec.pairs[*].secret", `spec.pairs[={"secret":"a"}]`, "spec.pairs"},
		{"spec.other", `spec.tokens[="a"]`, `spec.tokens[="a"]`},
		{"spec.users[*].token", `spec.users[token="a"].name`, "spec.users"},
		{"spec.users[*]", `spec.users[token="a"].name`, "spec.users"},
		{"spec.users[*].token", `spec.users[id=1,token="a"]`, "spec.users"},
		{"spec.users[*].token", `spec.users[name="a"].token`, `spec.users[name="a"].token`},
		{"spec.users[0].token", `spec.users[name="a"].token`, `spec.users[name="a"].token`},
		{"spec.groups[*].users[*].token", `spec.groups[name="g"].users[token="a"]`, `spec.groups[name="g"].users`},
		{"spec.args[*]", "spec.args[0]", "spec.args[0]"},
		{"data", "data.key", "data.key"},
		{"spec", "", ""},
	} {
		patterns, err := projection.ParsePatterns(row.pattern)
		require.NoError(t, err)
		path, err := projection.ParsePath(row.path)
		require.NoError(t, err)
		require.Equal(t, row.want, patterns.OfEveryItem().RedactedPath(path).String(), "%s of %s", row.path, row.pattern)
		set := projection.NewFieldSet(path)
		require.Equal(t, row.want, strings.TrimSpace(patterns.OfEveryItem().RedactedFields(set).String()), "%s of %s", row.path, row.pattern)
		require.Equal(t, row.path, projection.Patterns{}.RedactedPath(path).String())
	}
	set := projection.NewFieldSet(path(`spec.tokens`), path(`spec.tokens[="a"]`), path(`spec.tokens[="b"]`), path("spec.size"))
	tokens, err := projection.ParsePatterns("spec.tokens[*]")
	require.NoError(t, err)
	require.Equal(t, "spec.size\nspec.tokens", strings.TrimSpace(tokens.RedactedFields(set).String()))
}

// An item that has moved is as sensitive as it was.
func TestPositionsOfSensitiveItems(t *testing.T) {
	for _, text := range []string{"spec.users[0].token", "/spec/users/0/token", "$.spec.users[0].token"} {
		patterns, err := projection.ParsePatterns(text)
		require.NoError(t, err)
		every := patterns.OfEveryItem()
		require.True(t, every.Match(path(`spec.users[name="a"].token`)), text)
		require.True(t, every.Match(path(`spec.users[7].token`)), text)
		require.False(t, every.Match(path(`spec.users[name="a"].name`)), text)
		require.False(t, patterns.Match(path(`spec.users[7].token`)), "the patterns stay as they are")
	}
	pointer, err := projection.ParsePatterns("/data/0")
	require.NoError(t, err)
	require.True(t, pointer.OfEveryItem().Match(path(`data["0"]`)))
	require.False(t, pointer.OfEveryItem().Match(path(`data["1"]`)))
	_, removed := pointer.OfEveryItem().Remove(map[string]any{"data": []any{"a", "b"}})
	require.Len(t, removed, 2)
}
