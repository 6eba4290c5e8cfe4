package projection_test

import (
	"strings"
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
		{why: "a position to which others moved an item of the value", patterns: "a.b[1]", value: `[x]`, live: `[o, x]`, err: moves},
		{why: "a position with an item that is there twice", patterns: "a.b[1]", value: `[x]`, live: `[x, x]`, want: `[x, x]`, parts: []string{"kept [1]"}},
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
		{why: "one in front of another, and one behind that goes", patterns: `a.b[*].q`, value: `[{host: new}, {host: a}]`, live: `[{host: a, q: 1}, {host: b, q: 2}]`, err: ambiguous},
		{why: "two where two others were", patterns: `a.b[*].q`, value: `[{host: x}, {host: y}]`, live: `[{host: a, q: 1}, {host: b, q: 2}]`, err: ambiguous},
		{why: "one where two others were", patterns: `a.b[*].q`, value: `[{host: z}]`, live: `[{host: a, q: 1}, {host: b, q: 2}]`, err: ambiguous},
		{why: "two where one other was", patterns: `a.b[*].q`, value: `[{host: x}, {host: y}]`, live: `[{host: b, q: 2}]`, err: ambiguous},
		{why: "others that have nothing there", patterns: `a.b[*].q`, value: `[{host: x, q: 3}, {host: y}]`, live: `[{host: a}, {host: b}]`,
			want: `[{host: x, q: 3}, {host: y}]`, parts: []string{`new [0].q`}},
		{why: "two that were edited, with one between them", patterns: `a.b[*].q`, value: `[{host: x}, {host: m}, {host: y}]`, live: `[{host: a, q: 1}, {host: m}, {host: b, q: 2}]`,
			want: `[{host: x, q: 1}, {host: m}, {host: y, q: 2}]`, parts: []string{`kept [0].q`, `kept [2].q`}},
		{why: "one that was edited, between two that moved together", patterns: `a.b[*].q`, value: `[{host: c}, {host: a}, {host: x}, {host: b}]`, live: `[{host: a}, {host: o, q: 2}, {host: b}, {host: c}]`,
			want: `[{host: c}, {host: a}, {host: x, q: 2}, {host: b}]`, parts: []string{`kept [2].q`}},
		{why: "one between two that changed places", patterns: `a.b[*].q`, value: `[{host: b}, {host: x}, {host: a}]`, live: `[{host: a}, {host: o, q: 2}, {host: b}]`, err: ambiguous},
		{why: "one that was edited, and one that goes elsewhere", patterns: `a.b[*].q`, value: `[{host: x}, {host: b}]`, live: `[{host: a, q: 1}, {host: b}, {host: c, q: 3}]`,
			want: `[{host: x, q: 1}, {host: b}]`, parts: []string{`kept [0].q`}},
		{why: "equal ones", patterns: `a.b[*].q`, value: `[{host: a}, {host: a}]`, live: `[{host: a, q: 1}, {host: a, q: 2, d: 1}]`,
			want: `[{host: a, q: 1}, {host: a, q: 2}]`, parts: []string{`kept [0].q`, `kept [1].q`}},
		{why: "one more equal one", patterns: `a.b[*].q`, value: `[{host: a}, {host: a}]`, live: `[{host: a, q: 1}]`,
			want: `[{host: a, q: 1}, {host: a}]`, parts: []string{`kept [0].q`}},
		{why: "one of equal ones goes", patterns: `a.b[*].q`, value: `[{host: a}]`, live: `[{host: a, q: 1}, {host: a, q: 2}]`, err: ambiguous},
		{why: "one of equal ones goes, and they had the same", patterns: `a.b[*].q`, value: `[{host: a}]`, live: `[{host: a, q: 1}, {host: a, q: 1}]`,
			want: `[{host: a, q: 1}]`, parts: []string{`kept [0].q`}},
		{why: "one of equal ones goes, on one side of another", patterns: `a.b[*].q`, value: `[{host: m}, {host: a}]`, live: `[{host: a, q: 1}, {host: m}, {host: a, q: 2}]`,
			want: `[{host: m}, {host: a, q: 2}]`, parts: []string{`kept [1].q`}},
		{why: "one more equal one, and one where the other was", patterns: `a.b[*].q`, value: `[{host: x}, {host: m}, {host: a}, {host: n}, {host: a}]`, live: `[{host: a, q: 1}, {host: m}, {host: n}]`,
			want: `[{host: x}, {host: m}, {host: a, q: 1}, {host: n}, {host: a}]`, parts: []string{`kept [2].q`}},
		{why: "one of equal ones goes, and one other", patterns: `a.b[*].q`, value: `[{host: a}, {host: m}]`, live: `[{host: o}, {host: m}, {host: a, q: 1}, {host: n}, {host: a, q: 2}]`, err: ambiguous},
		{why: "the one that has more in common", patterns: `a.b[*].q`, value: `[{host: a}, {host: a, v: 1}]`, live: `[{host: a, v: 1, q: 1}, {host: a, q: 2}]`,
			want: `[{host: a, q: 2}, {host: a, v: 1, q: 1}]`, parts: []string{`kept [0].q`, `kept [1].q`}},
		{why: "the one that has less of a choice", patterns: `a.b[*].q`, value: `[{host: a}, {host: a, v: 1}]`, live: `[{host: a, v: 1, d: 1, q: 1}, {host: a, d: 1, q: 2}]`,
			want: `[{host: a, q: 2}, {host: a, v: 1, q: 1}]`, parts: []string{`kept [0].q`, `kept [1].q`}},
		{why: "items of nothing else", patterns: `a.b[*].q`, value: `[{}, {}]`, live: `[{q: 1}, {q: 2}]`,
			want: `[{q: 1}, {q: 2}]`, parts: []string{`kept [0].q`, `kept [1].q`}},
		{why: "an item of nothing else, with defaults", patterns: `a.b[*].q`, value: `[{}]`, live: `[{d: 1, q: 1}]`, want: `[{q: 1}]`, parts: []string{`kept [0].q`}},
		{why: "an item of nothing else, and another one", patterns: `a.b[*].q`, value: `[{}, {host: x}]`, live: `[{host: a, q: 1}]`, err: ambiguous},
		{why: "an item of nothing else in another place", patterns: `a.b[*].q`, value: `[{host: a}, {}]`, live: `[{host: b, q: 1}, {host: a}]`, err: ambiguous},
		{why: "one with fewer items in a list, in another place", patterns: `a.b[*].q`, value: `[{l: [x]}, {host: m}]`, live: `[{host: m}, {l: [x, y], q: 1}]`, err: ambiguous},
		{why: "ones with fewer items in lists, in their places", patterns: `a.b[*].q`, value: `[{l: [x]}, {l: [z]}]`, live: `[{l: [x, y], q: 1}, {l: [z, y], q: 2}]`,
			want: `[{l: [x], q: 1}, {l: [z], q: 2}]`, parts: []string{`kept [0].q`, `kept [1].q`}},
		{why: "by a name that one item has", patterns: `a.b[host~"*"].q`, value: `[{host: new}, {host: a, v: 2}]`, live: `[{host: a, v: 1, q: 1}, {host: b, q: 2}]`,
			want: `[{host: new}, {host: a, v: 2, q: 1}]`, parts: []string{`kept [host="a"].q`}},
		{why: "by a name that several have", patterns: `a.b[k="x"].q`, value: `[{k: x, v: 3}, {k: w}, {k: x, v: 1}]`, live: `[{k: x, v: 1, q: 1}, {k: w}, {k: x, v: 2, q: 2}]`, err: ambiguous},
		{why: "by a name, beside all others", patterns: `a.b[host="o"].q a.b[*].r`, value: `[{host: o, v: 2}, {host: x}]`, live: `[{host: a, r: 1}, {host: o, v: 1, q: 1, r: 2}]`, err: ambiguous},
		{why: "of several patterns", patterns: `a.b[*].q a.b[*].r`, value: `[{host: x}, {host: m}]`, live: `[{host: a, q: 1, r: 1}, {host: m, r: 2}]`,
			want: `[{host: x, q: 1, r: 1}, {host: m, r: 2}]`, parts: []string{`kept [0].q`, `kept [0].r`, `kept [1].r`}},
		{why: "at a position", patterns: `a.b[1].q`, value: `[{host: a}, {host: x}]`, live: `[{host: a, q: 1}, {host: b, q: 2}]`,
			want: `[{host: a}, {host: x, q: 2}]`, parts: []string{`kept [1].q`}},
		{why: "at a position to which another item came", patterns: `a.b[1].q`, value: `[{host: b}, {host: x}]`, live: `[{host: a, q: 1}, {host: b, q: 2}]`, err: ambiguous},
		{why: "at a position from which the item went", patterns: `a.b[1].q`, value: `[{host: b}]`, live: `[{host: a, q: 1}, {host: b, q: 2}]`, err: ambiguous},
		{why: "at a position, and in all items", patterns: `a.b[0].q a.b[*].r`, value: `[{host: x}, {host: b}]`, live: `[{host: b, q: 1, r: 1}]`, err: ambiguous},
		{why: "in a list of an item", patterns: `a.b[*].p[*].q`, value: `[{host: a, p: [{k: a}, {k: c}]}]`, live: `[{host: a, p: [{k: a, q: 1}, {k: b, q: 2}]}]`,
			want: `[{host: a, p: [{k: a, q: 1}, {k: c, q: 2}]}]`, parts: []string{`kept [0].p[0].q`, `kept [0].p[1].q`}},
		{why: "in a list of an item, of which one goes and one comes", patterns: `a.b[*].p[*].q`, value: `[{host: a, p: [{k: c}, {k: a}]}]`, live: `[{host: a, p: [{k: a, q: 1}, {k: b, q: 2}]}]`, err: ambiguous},
		{why: "in lists of two items that were edited", patterns: `a.b[*].p[*].q`, value: `[{host: a, p: [{k: c}]}, {host: b, p: [{k: d}]}]`, live: `[{host: a, p: [{k: a, q: 1}]}, {host: b, p: [{k: b, q: 2}]}]`, err: ambiguous},
		{why: "in lists of two items with names that were edited", patterns: `a.b[host~"*"].p[*].q`, value: `[{host: a, p: [{k: c}]}, {host: b, p: [{k: d}]}]`, live: `[{host: a, p: [{k: a, q: 1}]}, {host: b, p: [{k: b, q: 2}]}]`,
			want: `[{host: a, p: [{k: c, q: 1}]}, {host: b, p: [{k: d, q: 2}]}]`, parts: []string{`kept [host="a"].p[0].q`, `kept [host="b"].p[0].q`}},
		{why: "a field that identifies objects, in an item", patterns: "a.b[*].metadata.name", value: `[{metadata: {name: x}, v: 1}]`, live: `[{metadata: {name: w}, v: 1}]`,
			want: `[{metadata: {name: w}, v: 1}]`, parts: []string{"kept [0].metadata.name"}},
	} {
		t.Run(row.why, func(t *testing.T) {
			decode := func(text string) any { return object("v: " + text)["v"] }
			value, live := decode(row.value), decode(row.live)
			held, err := patterns(strings.Fields(row.patterns)...).Hold(path("a.b"), value, live)
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
