package projection_test

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/internal/rows"
	"github.com/ssaplan/primitives/projection"
)

func TestDiff(t *testing.T) {
	for _, test := range rows.Read[struct {
		Before, After string // "" is no object
		Set           []string
		Want          []string
		Why           string
	}](t, "diff") {
		got := texts(projection.Diff(projectText(test.Before, set(test.Set...)), projectText(test.After, set(test.Set...))))
		assert.Equal(t, test.Want, got, test.Why)
	}
}

// Objects that were written by hand have what JSON decoding doesn't make.
func TestDiffOfGoValues(t *testing.T) {
	list, empty := []any(nil), []any{}
	for _, row := range []struct {
		a, b any
		want string // "" if they are equal
		why  string
	}{
		{int64(5), 5.0, "a: 5 -> 5.0", "a number of another type, written so that one sees it"},
		{list, "x", `a: null -> "x"`, "a list that is nil is null"},
		{list, empty, "a: null -> []", "and no list without items"},
		{list, list, "", "and the same as another"},
		{map[string]any(nil), map[string]any{}, "a: null -> {}", "a map too"},
		{math.NaN(), 5.0, "a: NaN -> 5.0", "what is no number differs from one"},
		{math.NaN(), math.NaN(), "", "and not from itself"},
	} {
		of := func(v any) projection.Projection { return projection.Project(map[string]any{"a": v}, set("a")) }
		assert.Equal(t, row.want, strings.Join(texts(projection.Diff(of(row.a), of(row.b))), "\n"), row.why)
	}
}

func projectText(text string, set projection.FieldSet) projection.Projection {
	if text == "" {
		return projection.Project(nil, set)
	}
	return projection.Project(object(text), set)
}

// Two applies of one manager may declare different depths.
func TestDiffOfDifferentSets(t *testing.T) {
	whole := projectText(`{m: {a: 1, c: 3}}`, set("m"))
	part := projectText(`{m: {a: 1, b: 2, c: 3}}`, set("m.a", "m.b"))
	assert.Equal(t, []string{`m: {"a":1,"c":3} -> {"a":1,"b":2}`}, texts(projection.Diff(whole, part)), "nothing that one side has may be passed over")
	assert.Equal(t, []string{`m: {"a":1,"b":2} -> {"a":1,"c":3}`}, texts(projection.Diff(part, whole)))

	member := projectText(`{m: {a: 1}}`, set("m", "m.a"))
	assert.Equal(t, []string{"m: + {}", "m.a: + 1"}, texts(projection.Diff(projectText(`{}`, set("m.a")), member)), "what one of them has is a change")
	assert.Equal(t, []string{"m.a: - 1", "m: - {}"}, texts(projection.Diff(member, projectText(`{}`, set("m.a")))))

	one, other := projectText(`{a: 1}`, set("a")), projectText(`{a: 1, b: 2}`, set("b"))
	assert.Equal(t, []string{"a: - 1", "b: + 2"}, texts(projection.Diff(one, other)))
}

func TestChangeJSON(t *testing.T) {
	for _, test := range []struct{ before, after, want, why string }{
		{`{a: 1}`, `{a: 2}`, `{"path":"a","op":"change","before":1,"after":2}`, "both sides"},
		{`{}`, `{a: null}`, `{"path":"a","op":"add","after":null}`, "null is a value, absent is left out"},
		{`{a: false}`, `{}`, `{"path":"a","op":"remove","before":false}`, "false is a value"},
		{`{l: []}`, `{l: [{id: x}]}`, `{"path":"l[id=\"x\"]","op":"add","after":{"id":"x"},"position":0}`, "the first position is one too"},
		{`{l: [{id: x}, {id: w}]}`, `{l: [{id: w}, {id: x}]}`, `{"path":"l[id=\"x\"]","op":"move","before":0,"after":1}`, "a move has positions for values"},
	} {
		s := set("a", `l[id="x"]`, `l[id="w"]`)
		changes := projection.Diff(projectText(test.before, s), projectText(test.after, s))
		require.Len(t, changes, 1, test.why)
		text, err := json.Marshal(changes[0])
		require.NoError(t, err)
		assert.JSONEq(t, test.want, string(text), test.why)
	}
}

// Other managers have items between ours.
func TestPositionsAreThoseOfTheObject(t *testing.T) {
	ports := set(`p[p=80,q="TCP"].p`, `p[p=8081,q="UDP"].p`)
	const before = `{p: [{p: 80, q: TCP}, {p: 8080, q: TCP}, {p: 8081, q: UDP}]}`
	for _, row := range []struct{ before, after, want, why string }{
		{before, `{p: [{p: 8081, q: UDP}, {p: 8080, q: TCP}, {p: 80, q: TCP}]}`, `p[p=80,q="TCP"]: moved from position 0 to 2`, "a move over the item of another manager"},
		{before, `{p: [{p: 80, q: TCP}, {p: 8081, q: UDP}, {p: 8080, q: TCP}]}`, "", "a move that isn't one among our own"},
	} {
		x, y := projectText(row.before, ports), projectText(row.after, ports)
		assert.Equal(t, row.want, strings.Join(texts(projection.Diff(x, y)), "\n"), row.why)
		x = x.Replace(set(`p[p=80,q="TCP"].p`), func(_ projection.Path, v any) any { return v })
		assert.Equal(t, row.want, strings.Join(texts(projection.Diff(x, y)), "\n"), "replacing values moves nothing")
	}

	longer := projectText(before, ports)
	longer.Object["p"] = append(longer.Object["p"].([]any), map[string]any{"p": int64(81), "q": "TCP"})
	longer.Fields = longer.Fields.Union(set(`p[p=81,q="TCP"].p`))
	added := projection.Diff(projectText(before, ports), longer)
	require.Len(t, added, 1)
	assert.Equal(t, 2, added[0].Position, "of an item that somebody added to the projection only that is known")
}

// An item that stays at its position is none that moves, even if fewer would have to move around it.
func TestMovesHaveTwoPositions(t *testing.T) {
	ids := set(`p[id="a"].id`, `p[id="b"].id`, `p[id="c"].id`, `p[id="r"].id`, `p[id="s"].id`)
	for _, row := range []struct {
		before, after string
		want          []string
		why           string
	}{
		{`{p: [{id: r}, {id: a}, {id: b}]}`, `{p: [{id: b}, {id: a}]}`,
			[]string{`p[id="b"]: moved from position 2 to 0`, `p[id="r"]: - {"id":"r"}`}, "one that goes makes room"},
		{`{p: [{id: r}, {id: s}, {id: a}, {id: b}, {id: c}]}`, `{p: [{id: b}, {id: c}, {id: a}]}`,
			[]string{`p[id="b"]: moved from position 3 to 0`, `p[id="c"]: moved from position 4 to 1`, `p[id="r"]: - {"id":"r"}`, `p[id="s"]: - {"id":"s"}`},
			"two that move past one that stays"},
		{`{p: [{id: a}, {id: b}, {id: c}]}`, `{p: [{id: c}, {id: b}, {id: a}]}`,
			[]string{`p[id="a"]: moved from position 0 to 2`, `p[id="c"]: moved from position 2 to 0`}, "the one in the middle stays"},
	} {
		assert.Equal(t, row.want, texts(projection.Diff(projectText(row.before, ids), projectText(row.after, ids))), row.why)
	}

	odd := projectText(`{p: [{id: r}, {id: a}]}`, set(`p[id="a"].id`))
	items := []any{map[string]any{"id": "b"}, map[string]any{"id": "a"}}
	odd.Object["p"], odd.Fields = items, ids
	other := projectText(`{p: [{id: r}, {id: a}]}`, set(`p[id="a"].id`))
	other.Object["p"], other.Fields = []any{items[1], items[0]}, ids
	assert.Len(t, projection.Diff(odd, other), 1, "items that somebody put into the projections have no positions in an object")
}

const secretText = "c3VwZXJzZWNyZXQ="

func TestSecretsAreNeverShown(t *testing.T) {
	manifest := `{apiVersion: v1, kind: Secret, metadata: {annotations: {` +
		`kubectl.kubernetes.io/last-applied-configuration: '{"data":{"a":"c3VwZXJzZWNyZXQ="}}', ` +
		`other.io/copy: c3VwZXJzZWNyZXQ=}, labels: {plain: text}}, ` +
		`data: {a: c3VwZXJzZWNyZXQ=, b: c3VwZXJzZWNyZXQ=}, stringData: {c: c3VwZXJzZWNyZXQ=}}`
	edited := `{apiVersion: v1, kind: Secret, metadata: {labels: {plain: other}}, ` +
		`data: {b: c3VwZXJzZWNyZXQ=MORE, d: c3VwZXJzZWNyZXQ=}, stringData: {c: other}}`
	sets := map[string]projection.FieldSet{
		"leaves": set("data.a", "data.b", "data.d", "stringData.c", "metadata.labels.plain",
			`metadata.annotations["kubectl.kubernetes.io/last-applied-configuration"]`, `metadata.annotations["other.io/copy"]`),
		"whole maps":   set("data", "stringData", "metadata.annotations", "metadata.labels"),
		"whole object": projection.NewFieldSet(projection.Path{}),
	}
	for name, s := range sets {
		before, after := projectText(manifest, s), projectText(edited, s)
		for _, pair := range [][2]projection.Projection{{before, after}, {after, before}, {{}, before}, {before, {}}} {
			changes := projection.Diff(pair[0], pair[1])
			require.NotEmpty(t, changes, name)
			assertHidden(t, changes, name)
			for _, c := range changes {
				assertHidden(t, c, name)
				assertHidden(t, &c, name)
			}
			assertHidden(t, pair[0], name)
			assertHidden(t, &pair[1], name)
		}
	}
	changes := texts(projection.Diff(projectText(manifest, sets["leaves"]), projectText(edited, sets["leaves"])))
	assert.Contains(t, changes, `data.a: - "<redacted>"`)
	assert.Contains(t, changes, `data.b: "<redacted>" -> "<redacted: changed>"`)
	assert.Contains(t, changes, `data.d: + "<redacted>"`)
	assert.Contains(t, changes, `metadata.labels.plain: "text" -> "other"`, "what is no secret is shown")
}

// assertHidden formats v in every way that log lines and error texts do.
func assertHidden(t *testing.T, v any, name string) {
	t.Helper()
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%d", "%x"} {
		text := fmt.Sprintf(verb, v)
		assert.NotContains(t, text, secretText, "%s, %s", name, verb)
		assert.NotContains(t, text, fmt.Sprintf("%x", secretText), "%s, %s", name, verb)
	}
	text, err := json.Marshal(v)
	require.NoError(t, err)
	assert.NotContains(t, string(text), secretText, name)
}

func TestSensitive(t *testing.T) {
	for _, test := range []struct{ obj, want, why string }{
		{`{apiVersion: v1, kind: ConfigMap, data: {a: b}}`, "", "no Secret"},
		{`{apiVersion: example.io/v1, kind: Secret, data: {a: b}}`, "", "a custom resource may be called so"},
		{`{kind: Secret}`, "", "no version, no Secret"},
		{`{apiVersion: v1, kind: Secret}`, "data\nmetadata.annotations\nstringData\n", "whatever it holds now"},
		{`{apiVersion: v1, kind: Secret, metadata: 5}`, "data\nmetadata.annotations\nstringData\n", "garbage"},
	} {
		assert.Equal(t, test.want, projection.Sensitive(object(test.obj)).String(), test.why)
	}
}
