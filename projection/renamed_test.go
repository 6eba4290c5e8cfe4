package projection_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/projection"
)

// A set names items as records of today do, whatever keys a list had when it was recorded.
func TestRenamed(t *testing.T) {
	obj := object(`{spec: {list: [{name: a, id: 1}, {name: b, id: 1}, {name: b, id: 2}]}}`)
	short := object(`{spec: {list: [{name: c}, {name: c, value: 2}]}}`)
	for _, row := range []struct {
		why     string
		obj     map[string]any
		current []string
		was, is []string
	}{
		{"a key more", obj, []string{`spec.list[id=1,name="a"]`},
			[]string{`spec.list[name="a"]`, `spec.list[name="a"].name`, `spec.list[name="b"]`, "spec.other"},
			[]string{`spec.list[id=1,name="a"]`, `spec.list[id=1,name="a"].name`, `spec.list[id=1,name="b"]`, "spec.other"}},
		{"a key less", obj, []string{`spec.list[name="a"]`},
			[]string{`spec.list[id=1,name="a"].id`, `spec.list[id=2,name="b"].id`},
			[]string{`spec.list[name="a"].id`, `spec.list[name="b"].id`}},
		{"a key less that the items don't have any more", short, []string{`spec.list[name="c"]`},
			[]string{`spec.list[id=1,name="c"]`, `spec.list[id=2,name="c"].value`},
			[]string{`spec.list[name="c"]`, `spec.list[name="c"].value`}},
		{"an item that isn't there", obj, []string{`spec.list[id=1,name="a"]`}, []string{`spec.list[name="x"].name`, "spec.other"}, []string{"spec.other"}},
		{"the keys of two times", obj, []string{`spec.list[id=1,name="a"]`},
			[]string{`spec.list[name="a"].name`, `spec.list[id=1,name="a"].value`},
			[]string{`spec.list[id=1,name="a"].name`, `spec.list[id=1,name="a"].value`}},
		{"another key", obj, []string{`spec.list[id=1]`}, []string{`spec.list[name="a"].name`}, []string{`spec.list[id=1].name`}},
	} {
		was := set(row.was...)
		got := was.Renamed(set(row.current...), row.obj)
		require.Equal(t, set(row.is...).String(), got.String(), row.why)
		require.False(t, got.Same(was), row.why)
	}
	same := set(`spec.list[name="a"].name`, `spec.more[id=1]`)
	for _, current := range []projection.FieldSet{{}, same, set(`spec.list[name="z"].value`, "spec.other")} {
		require.True(t, same.Renamed(current, obj).Same(same), "nothing has another name")
	}
}

// An old key stays that of the item that there was, if an item comes that it would fit as well.
func TestRenamedInTwoVersions(t *testing.T) {
	before, after, today := object(`{list: [{name: a, id: 2}]}`), object(`{list: [{name: a, id: 1}, {name: a, id: 2}]}`), set(`list[id=1,name="a"]`)
	was := set(`list[name="a"].id`)
	require.Equal(t, `list[id=2,name="a"].id`, strings.TrimSpace(was.Renamed(today, before, after).String()))
	require.Equal(t, `list[id=1,name="a"].id`, strings.TrimSpace(was.Renamed(today, object(`{list: []}`), after).String()), "there was none")
	require.True(t, today.Renamed(today, before, after).Same(today), "what is named as today stays")
}

// A server records the null of a key field, and the item has the default.
func TestWithDefaultKeys(t *testing.T) {
	obj := object(`{list: [{"n": 1, s: left, sub: [{k: x}]}, {"n": 1, s: right}, {"n": 2, s: left}, {"n": 2, s: right}]}`)
	for _, row := range []struct {
		why          string
		was, all, is []string
	}{
		{"another element of the set names the other item", []string{`list[n=1,s=null].sub[k=null].k`, `list[n=1,s="right"]`}, nil,
			[]string{`list[n=1,s="left"].sub[k="x"].k`, `list[n=1,s="right"]`}},
		{"another manager does", []string{`list[n=1,s=null].n`, "other"}, []string{`list[n=1,s="left"]`}, []string{`list[n=1,s="right"].n`, "other"}},
		{"nothing does", []string{`list[n=2,s=null].n`}, []string{`list[n=1,s="left"]`}, []string{`list[n=2,s=null].n`}},
		{"all items have another name", []string{`list[n=1,s=null]`}, []string{`list[n=1,s="left"]`, `list[n=1,s="right"]`}, []string{`list[n=1,s=null]`}},
		{"no such item", []string{`list[n=3,s=null]`, `more[n=1,s=null]`}, nil, []string{`list[n=3,s=null]`, `more[n=1,s=null]`}},
	} {
		require.Equal(t, set(row.is...).String(), set(row.was...).WithDefaultKeys(obj, set(row.all...)).String(), row.why)
	}
	same := set(`list[n=1,s="left"].n`)
	require.True(t, same.WithDefaultKeys(obj, same).Same(same))
}

// An item of a manifest that has null for a key field is the one that got the default.
func TestNullKeyInManifest(t *testing.T) {
	manifest := object(`{list: [{"n": 1, s: null, v: a}, {"n": 1, s: right, v: b}]}`)
	left := path(`list[n=1,s="left"].v`)
	v, _ := projection.NewManifest(manifest, set(`list[n=1,s="left"].v`, `list[n=1,s="right"].v`)).Get(left)
	require.Equal(t, "a", v)
	_, exists := projection.NewObject(manifest, set(`list[n=1,s="left"].v`)).Get(left)
	require.False(t, exists)
}
