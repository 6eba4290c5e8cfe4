package projection_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/projection"
)

func TestDiffDuplicates(t *testing.T) {
	const a, b, c = `{"n": "a", "v": 1}`, `{"n": "a", "v": 2}`, `{"n": "c"}`
	list := func(items string) string { return `{"l": [` + items + `], "s": [1]}` }
	for _, row := range []struct{ before, after, want, why string }{
		{list(a + "," + b), list(a), `l[n="a"]: [{"n":"a","v":1},{"n":"a","v":2}] -> [{"n":"a","v":1}]`, "the second goes"},
		{list(a + "," + b), list(b), `l[n="a"]: [{"n":"a","v":1},{"n":"a","v":2}] -> [{"n":"a","v":2}]`, "the first goes, which is also a change of its values"},
		{list(a), list(a + "," + c + "," + a), `l[n="a"]: [{"n":"a","v":1}] -> [{"n":"a","v":1},{"n":"a","v":1}]`, "a second comes that is the same"},
		{list(c), list(a + "," + b), `l[n="a"]: [] -> [{"n":"a","v":1},{"n":"a","v":2}]`, "both come"},
		{list(a + "," + b), `{}`, `l[n="a"]: [{"n":"a","v":1},{"n":"a","v":2}] -> []`, "both go, with their list"},
		{list(a + "," + b), `{"l": "x"}`, `l[n="a"]: [{"n":"a","v":1},{"n":"a","v":2}] -> []`, "in whose place is something else"},
		{list(a + "," + a), list(a + "," + b), `l[n="a"]: [{"n":"a","v":1},{"n":"a","v":1}] -> [{"n":"a","v":1},{"n":"a","v":2}]`, "the second changes"},
		{list(a + "," + a), list(b + "," + c + "," + a), ``, "the first changes, which is no matter of duplicates"},
		{list(a + "," + b), list(b + "," + a), `l[n="a"]: [{"n":"a","v":1},{"n":"a","v":2}] -> [{"n":"a","v":2},{"n":"a","v":1}]`, "they change places"},
		{list(a), list(b), ``, "there is only one"},
		{`{"s": [1, 2, 1]}`, `{"s": [2, 1]}`, `s[=1]: [1,1] -> [1]`, "values of a set"},
		{`{"d": {"l": [{"n": "x", "s": [1, 1]}]}}`, `{"d": {"l": [{"n": "x", "s": [1, 1, 1]}]}}`, `d.l[n="x"].s[=1]: [1,1] -> [1,1,1]`, "deep inside"},
	} {
		before, after := object(row.before), object(row.after)
		fields := set(`l[n="a"].n`, `l[n="a"].v`, `l[n="c"]`, `s[=1]`, `d.l[n="x"].s[=1]`)
		found := projection.DiffDuplicates(before, after, fields)
		require.Equal(t, row.want, strings.Join(texts(found), "\n"), row.why)
		for _, d := range found {
			overwrite(d.Before)
			overwrite(d.After)
		}
		assert.Equal(t, object(row.before), before, "the objects are left alone")
		assert.Equal(t, object(row.after), after)
	}
}

func TestDuplicatesOfASecret(t *testing.T) {
	const head = `{apiVersion: v1, kind: Secret, data: `
	const item = `{name: a, v: c3VwZXJzZWNyZXQ=}`
	changes := projection.DiffDuplicates(object(head+`[`+item+`, `+item+`]}`), object(head+`[`+item+`]}`), set(`data[name="a"].v`))
	require.Len(t, changes, 1)
	assert.True(t, changes[0].Sensitive)
	assertHidden(t, changes[0], "duplicates")
	text, err := json.Marshal(changes[0])
	require.NoError(t, err)
	assert.Contains(t, string(text), `"op":"duplicate","before":"\u003credacted\u003e","after":"\u003credacted: changed\u003e","sensitive":true`)
	assert.Equal(t, `data[name="a"]: "<redacted>" -> "<redacted: changed>"`, changes[0].String())
}

// The changes of DiffDuplicates are at paths that the projections list as duplicates, and are the same in both
// directions. Each list of duplicates begins with the item that Get returns. An object has no changes against itself.
func TestDuplicatesAreWhatDiffLeavesOut(t *testing.T) {
	found := 0
	for seed := range rounds {
		r := newRandom(seed)
		a := r.object(2)
		b := r.edited(a)
		fields := r.fields(t, a).Union(r.fields(t, b))
		changes := projection.DiffDuplicates(a, b, fields)
		found += len(changes)
		back := projection.DiffDuplicates(b, a, fields)
		require.Len(t, back, len(changes))
		named := projection.NewFieldSet(append(projection.Project(a, fields).Duplicates, projection.Project(b, fields).Duplicates...)...)
		for i, c := range changes {
			require.True(t, named.Has(c.Path), "seed %d: %s", seed, c)
			require.Equal(t, projection.OpDuplicate, c.Op)
			require.Equal(t, []any{c.After, c.Before, c.Path}, []any{back[i].Before, back[i].After, back[i].Path}, "seed %d", seed)
			for obj, items := range map[*map[string]any]any{&a: c.Before, &b: c.After} {
				if first, exists := projection.NewObject(*obj, fields).Get(c.Path); exists {
					require.Equal(t, first, items.([]any)[0], "seed %d: %s", seed, c)
				} else {
					require.Empty(t, items, "seed %d: %s", seed, c)
				}
			}
		}
		require.Empty(t, projection.DiffDuplicates(a, a, fields))
	}
	require.Greater(t, found, rounds/20, "the generator must make duplicates that change")
}
