package projection_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/internal/rows"
	"github.com/ssaplan/primitives/projection"
)

// A caller may declare more fields sensitive than the data of Secrets, at any path.
func TestRedactedPaths(t *testing.T) {
	const text = `{a: {x: 1, z: {z: 2}}, list: [{k: other, v: 3}, {k: mine, v: 4}, {k: mine, v: 5}], set: [p, q], plain: [{v: 6}, {v: 7}], none: null}`
	for _, row := range rows.Read[struct{ Path, Want, Why string }](t, "redacted") {
		p := projection.Project(object(text), projection.NewFieldSet(projection.Path{}))
		p.Sensitive = projection.NewFieldSet(path(row.Path))
		assert.Contains(t, p.String(), row.Want, row.Why)
		assert.Equal(t, object(text), p.Object, "%s: the projection itself keeps its values", row.Why)
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
		p := projection.Project(object(`{kind: A, a: {x: 1, y: 2}, m: {x: 3}}`), fields)
		p.Sensitive = projection.NewFieldSet(path("a.y"))
		hidden := p.WithSensitive(patterns(row.patterns...))
		assert.Equal(t, row.want, hidden.Sensitive.String(), row.why)
		assert.Equal(t, "a.y\n", p.Sensitive.String(), "%s: the projection itself stays as it is", row.why)
		hidden.Sensitive = p.Sensitive
		assert.Equal(t, p, hidden, "%s: nothing else changes", row.why)
	}
}

// Items of sets and of lists with keys are called by values, which are in every path to them.
func TestShownPaths(t *testing.T) {
	for _, row := range rows.Read[struct{ Pattern, Path, Want string }](t, "shown") {
		every := patterns(row.Pattern).OfEveryItem()
		require.Equal(t, row.Want, every.RedactedPath(path(row.Path)).String(), "%s of %s", row.Path, row.Pattern)
		require.Equal(t, row.Want, strings.TrimSpace(every.RedactedFields(set(row.Path)).String()), "%s of %s", row.Path, row.Pattern)
		require.Equal(t, row.Path, projection.Patterns{}.RedactedPath(path(row.Path)).String())
	}
	tokens := set(`spec.tokens`, `spec.tokens[="a"]`, `spec.tokens[="b"]`, "spec.size")
	require.Equal(t, "spec.size\nspec.tokens", strings.TrimSpace(patterns("spec.tokens[*]").RedactedFields(tokens).String()))
}

// An item that has moved is as sensitive as it was.
func TestPositionsOfSensitiveItems(t *testing.T) {
	for _, text := range []string{"spec.users[0].token", "/spec/users/0/token", "$.spec.users[0].token"} {
		positions := patterns(text)
		every := positions.OfEveryItem()
		require.True(t, every.Match(path(`spec.users[name="a"].token`)), text)
		require.True(t, every.Match(path(`spec.users[7].token`)), text)
		require.False(t, every.Match(path(`spec.users[name="a"].name`)), text)
		require.False(t, positions.Match(path(`spec.users[7].token`)), "the patterns stay as they are")
	}
	pointer := patterns("/data/0").OfEveryItem()
	require.True(t, pointer.Match(path(`data["0"]`)))
	require.False(t, pointer.Match(path(`data["1"]`)))
	_, removed := pointer.Remove(map[string]any{"data": []any{"a", "b"}})
	require.Len(t, removed, 2)
}
