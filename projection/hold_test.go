package projection_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/projection"
)

func TestHold(t *testing.T) {
	const ambiguous, moves = "which of them have the parts", "at their positions there would be others"
	for _, row := range []struct {
		why, patterns, value, live, want string
		parts                            []string // of the paths below a.b
		err                              string
	}{
		{why: "a key of a map", patterns: "a.b.hash", value: `{app: x}`, live: `{app: z, hash: h}`, want: `{app: x, hash: h}`, parts: []string{"kept .hash"}},
		{why: "a key that both have", patterns: "a.b.hash", value: `{hash: x}`, live: `{hash: h}`, want: `{hash: h}`, parts: []string{"kept .hash"}},
		{why: "a key that the live map lacks", patterns: "a.b.hash", value: `{app: x, hash: x}`, live: `{app: x}`, want: `{app: x}`, parts: []string{"gone .hash"}},
		{why: "nothing is left, and there is none", patterns: "a.b.*", value: `{app: x}`, live: ``, want: ``, parts: []string{"gone .app"}},
		{why: "nothing is left, and the live map has more", patterns: "a.b.app", value: `{app: x}`, live: `{more: m}`, want: ``, parts: []string{"gone .app"}},
		{why: "nothing is left, as of the live map", patterns: "a.b.*", value: `{app: x}`, live: `{}`, want: `{}`, parts: []string{"gone .app"}},
		{why: "nothing is left, as of the live list", patterns: "a.b[*]", value: `[x]`, live: `[]`, want: `[]`, parts: []string{"gone [0]"}},
		{why: "nothing is left in an item, as of the live one", patterns: "a.b[*].sub", value: `[{sub: {}}]`, live: `[{}]`, want: `[{}]`, parts: []string{"gone [0].sub"}},
		{why: "nothing is left in the first item", patterns: "a.b[0].k", value: `[{k: w}, {k: v}]`, live: `[x]`, want: `[{}, {k: v}]`, parts: []string{"gone [0].k"}},
		{why: "an empty map that only the live map has", patterns: "a.b.sub.hash", value: `{app: x}`, live: `{sub: {}}`, want: `{app: x}`},
		{why: "a map that is empty stays", patterns: "a.b.hash", value: `{}`, live: `{app: x}`, want: `{}`},
		{why: "deeper, in a map that the value lacks", patterns: "a.b.sub.hash", value: `{app: x}`, live: `{sub: {hash: h, more: m}}`, want: `{app: x, sub: {hash: h}}`, parts: []string{"kept .sub.hash"}},
		{why: "deeper, in a map that the live one lacks", patterns: "a.b.sub.hash", value: `{sub: {hash: h, more: m}}`, live: `{}`, want: `{sub: {more: m}}`, parts: []string{"gone .sub.hash"}},
		{why: "other types", patterns: "a.b.c", value: `{c: 1}`, live: `[x]`, want: ``, parts: []string{"gone .c"}},
		{why: "a list and a map", patterns: "a.b[*]", value: `[x]`, live: `{c: 1}`, want: ``, parts: []string{"gone [0]"}},
		{why: "no list or map", patterns: "a.b.c", value: `5`, live: `{c: 1}`, want: `5`},
		{why: "the whole isn't the matter of this", patterns: "a.b", value: `[x]`, live: `[w]`, want: `[x]`},
		{why: "the pattern leads elsewhere", patterns: "a.c.d", value: `[x]`, live: `[w]`, want: `[x]`},

		{why: "an item that others put between", patterns: `a.b[?(@.host=="o")]`, value: `[{host: a}, {host: b}]`, live: `[{host: a, d: 1}, {host: o}, {host: b, d: 1}]`,
			want: `[{host: a}, {host: o}, {host: b}]`, parts: []string{`kept [host="o"]`}},
		{why: "several of the same name", patterns: `a.b[host="o"]`, value: `[{host: o, q: 1}, {host: a}]`, live: `[{host: o, q: 2}, {host: a}, {host: o, q: 3}]`,
			want: `[{host: o, q: 2}, {host: a}, {host: o, q: 3}]`, parts: []string{`kept [host="o"]`, `kept [host="o"]`}},
		{why: "fewer of the same name", patterns: `a.b[host="o"]`, value: `[{host: o, q: 1}, {host: a}, {host: o, q: 4}]`, live: `[{host: o, q: 2}, {host: a}]`,
			want: `[{host: o, q: 2}, {host: a}]`, parts: []string{`kept [host="o"]`, `gone [host="o"]`}},
		{why: "texts", patterns: `a.b[~"x/*"]`, value: `[a, x/1]`, live: `[x/2, a]`, want: `[a, x/2]`, parts: []string{`kept [="x/2"]`}},
		{why: "a position", patterns: "a.b[1]", value: `[x, w, z]`, live: `[a, b]`, want: `[x, b, z]`, parts: []string{"kept [1]"}},
		{why: "a position that only the live list has", patterns: "a.b[2]", value: `[x, w]`, live: `[a, b, c]`, want: `[x, w, c]`, parts: []string{"kept [2]"}},
		{why: "a position at the end that the live list lacks", patterns: "a.b[1]", value: `[x, w]`, live: `[a]`, want: `[x]`, parts: []string{"gone [1]"}},
		{why: "a position that the live list lacks, with an item behind it", patterns: "a.b[0]", value: `[x, w]`, live: ``, err: moves},
		{why: "a position that is too far behind", patterns: "a.b[3]", value: `[x]`, live: `[a, b, c, d]`, err: moves},
		{why: "all positions", patterns: "a.b[*]", value: `[x, w]`, live: `[a, b, c]`, want: `[a, b, c]`, parts: []string{"kept [0]", "kept [1]", "kept [2]"}},

		{why: "in items by a name", patterns: `a.b[host="o"].q`, value: `[{host: a, q: 1}, {host: o, q: 1}]`, live: `[{host: o, q: 2}, {host: a, q: 2}]`,
			want: `[{host: a, q: 1}, {host: o, q: 2}]`, parts: []string{`kept [host="o"].q`}},
		{why: "in items that moved", patterns: "a.b[*].q", value: `[{host: a, q: 1}, {host: o, q: 1}]`, live: `[{host: o, q: 2, d: 1}, {host: a, q: 3, d: 1}]`,
			want: `[{host: a, q: 3}, {host: o, q: 2}]`, parts: []string{"kept [0].q", "kept [1].q"}},
		{why: "in an item that goes", patterns: "a.b[*].q", value: `[{host: o, q: 1}]`, live: `[{host: a, q: 3}, {host: o, q: 2}]`, want: `[{host: o, q: 2}]`, parts: []string{"kept [0].q"}},
		{why: "in an item that comes", patterns: "a.b[*].q", value: `[{host: new, q: 1}, {host: o, q: 1}]`, live: `[{host: o, q: 2}]`,
			want: `[{host: new, q: 1}, {host: o, q: 2}]`, parts: []string{"kept [1].q", "new [0].q"}},
		{why: "in an item that was edited", patterns: "a.b[*].q", value: `[{host: a}, {host: edited, q: 1}]`, live: `[{host: a}, {host: o, q: 2}]`,
			want: `[{host: a}, {host: edited, q: 2}]`, parts: []string{"kept [1].q"}},
		{why: "in an item that was edited or is new", patterns: "a.b[*].q", value: `[{host: edited, q: 1}]`, live: `[{host: a}, {host: o, q: 2}]`, err: ambiguous},
		{why: "a field that identifies objects, in an item", patterns: "a.b[*].metadata.name", value: `[{metadata: {name: x}, v: 1}]`, live: `[{metadata: {name: w}, v: 1}]`,
			want: `[{metadata: {name: w}, v: 1}]`, parts: []string{"kept [0].metadata.name"}},
	} {
		t.Run(row.why, func(t *testing.T) {
			decode := func(text string) any { return object("v: " + text)["v"] }
			value, live := decode(row.value), decode(row.live)
			held, err := patterns(row.patterns).Hold(path("a.b"), value, live)
			if row.err != "" {
				require.ErrorContains(t, err, row.err)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, row.want != "", held.Exists)
			if held.Exists {
				assert.Equal(t, decode(row.want), held.Value)
			}
			var parts []string
			for _, group := range []struct {
				name  string
				paths []projection.Path
			}{{"kept ", held.Kept}, {"gone ", held.Gone}, {"new ", held.New}} {
				for _, p := range group.paths {
					parts = append(parts, group.name+p.String()[len("a.b"):])
				}
			}
			assert.Equal(t, row.parts, parts)
			assert.Equal(t, decode(row.value), value, "it stays as it is")
			assert.Equal(t, decode(row.live), live, "and so does the live one")
		})
	}
}
