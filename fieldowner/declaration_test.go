package fieldowner

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/projection"
)

// texts returns paths as text.
func texts(paths ...projection.Path) []string {
	var out []string
	for _, p := range paths {
		out = append(out, p.String())
	}
	return out
}

func textsOf(set projection.FieldSet) []string {
	var out []string
	for p := range set.All() {
		out = append(out, p.String())
	}
	return out
}

// TestDeclared has a Service of which "me" has applied the fields mine, and "you" the fields yours.
func TestDeclared(t *testing.T) {
	for _, row := range []struct {
		why                    string
		manifest, answer       string // "" for no manifest
		mine, yours            string
		fields, filled, picked []string
		ineffective            string
	}{
		{why: "what is recorded", manifest: `{"a": 1}`, answer: `{"a": 1}`, mine: `{"f:a": {}}`, fields: []string{"a"}},
		{why: "nothing recorded", manifest: `{}`, answer: `{"a": 1}`, yours: `{"f:a": {}}`},
		{why: "an empty map with something in it", manifest: `{"m": {}}`, answer: `{"m": {"x": 1}}`, mine: `{"f:m": {}}`,
			fields: []string{"m"}, filled: []string{"m"}},
		{why: "the same without a manifest, where it may be an atomic map", answer: `{"secretRef": {"x": 1}}`, mine: `{"f:secretRef": {}}`,
			fields: []string{"secretRef"}},
		{why: "and with one that is empty", manifest: `{"secretRef": {}}`, answer: `{"secretRef": {"x": 1}}`, mine: `{"f:secretRef": {}}`,
			fields: []string{"secretRef"}, filled: []string{"secretRef"}},
		{why: "and where it is none", answer: `{"m": {"x": 1}}`, mine: `{"f:m": {}}`, fields: []string{"m"}, filled: []string{"m"}},
		{why: "unless another manager owns something in it", answer: `{"m": {"x": 1}}`, mine: `{"f:m": {}}`, yours: `{"f:m": {"f:x": {}}}`,
			fields: []string{"m"}, filled: []string{"m"}},
		{why: "or it is one of which every entry can have an owner", answer: `{"metadata": {"labels": {"x": "1"}}}`,
			mine: `{"f:metadata": {"f:labels": {}}}`, fields: []string{"metadata.labels"}, filled: []string{"metadata.labels"}},
		{why: "both, with a manifest", manifest: `{"m": {}, "n": {}}`, answer: `{"m": {"x": 1}, "n": {"y": 1}}`, mine: `{"f:m": {}, "f:n": {}}`,
			yours: `{"f:n": {"f:y": {}}}`, fields: []string{"m", "n"}, filled: []string{"m", "n"}},
		{why: "a map with one owner, of a server that is newer than what is known", manifest: `{"m": {"x": 1}}`, answer: `{"m": {"x": 1}}`,
			mine: `{"f:m": {}}`, fields: []string{"m"}},
		{why: "and in which an older version of it has owners", manifest: `{"m": {"x": 1}}`, answer: `{"m": {"x": 1}}`,
			mine: `{"f:m": {}}`, yours: `{"f:m": {"f:x": {}}}`, fields: []string{"m"}},
		{why: "a map of nothing but null", manifest: `{"m": {"x": null}}`, answer: `{"m": {"x": 1}}`, mine: `{"f:m": {}}`,
			fields: []string{"m"}, filled: []string{"m"}},
		{why: "a map of nothing but an empty set", manifest: `{"m": {"x": []}}`, answer: `{"m": {"d": 1}}`, mine: `{"f:m": {}}`,
			fields: []string{"m"}, filled: []string{"m"}},
		{why: "an empty map in an item", manifest: `{"l": [{"k": 1, "m": {"n": {}}}]}`, answer: `{"l": [{"k": 1, "m": {"n": {"d": 1}}}]}`,
			mine:   `{"f:l": {"k:{\"k\":1}": {".": {}, "f:k": {}, "f:m": {"f:n": {}}}}}`,
			fields: []string{"l[k=1]", "l[k=1].k", "l[k=1].m.n"}, filled: []string{"l[k=1].m.n"}},
		{why: "a map with an empty one in it, which are recorded as the outer one", manifest: `{"m": {"n": {"x": null}}}`, answer: `{"m": {"n": {"d": 1}}}`,
			mine: `{"f:m": {}}`, fields: []string{"m"}, filled: []string{"m"}},
		{why: "an item with null for a key, which gets the default", manifest: `{"l": [{"k": 1, "d": null, "v": 2}]}`,
			answer: `{"l": [{"k": 1, "d": "x", "v": 2}]}`,
			mine:   `{"f:l": {"k:{\"d\":null,\"k\":1}": {".": {}, "f:d": {}, "f:k": {}, "f:v": {}}}}`,
			fields: []string{`l[d="x",k=1]`, `l[d="x",k=1].d`, `l[d="x",k=1].k`, `l[d="x",k=1].v`}},
		{why: "an empty map with nothing in it", manifest: `{"m": {}}`, answer: `{"m": {}}`, mine: `{"f:m": {}}`, fields: []string{"m"}},
		{why: "a port for the server to pick", manifest: `{"spec": {"healthCheckNodePort": 0, "x": 0}}`,
			answer: `{"spec": {"healthCheckNodePort": 30000, "x": 1}}`, mine: `{"f:spec": {"f:healthCheckNodePort": {}, "f:x": {}}}`,
			fields: []string{"spec.x"}, picked: []string{"spec.healthCheckNodePort"}},
		{why: "a field that the server doesn't keep", manifest: `{"a": 1, "status": {}}`, answer: `{}`, mine: `{"f:a": {}}`,
			fields: []string{"a"}, ineffective: "[a: absent status: untracked]"},
	} {
		t.Run(row.why, func(t *testing.T) {
			answer := decoded(t, row.answer)
			answer["apiVersion"], answer["kind"] = "v1", "Service"
			if row.mine != "" {
				addEntry(t, answer, "me", row.mine)
			}
			if row.yours != "" {
				addEntry(t, answer, "you", row.yours)
			}
			var manifest map[string]any
			if row.manifest != "" {
				manifest = decoded(t, row.manifest)
			}
			d := mustRead(t, answer).Declared(manifest, answer, Applier{Manager: "me"})
			assert.Equal(t, row.fields, textsOf(d.Fields))
			assert.Equal(t, row.filled, textsOf(d.Filled), "filled")
			assert.Equal(t, row.picked, texts(d.Assigned...), "assigned")
			ineffective := ""
			if d.Ineffective != nil {
				ineffective = fmt.Sprint(d.Ineffective)
			}
			assert.Equal(t, row.ineffective, ineffective)
		})
	}
}

// TestDeclarationProject has maps, a list and an item that were declared as empty.
func TestDeclarationProject(t *testing.T) {
	set := func(paths ...string) projection.FieldSet {
		var out []projection.Path
		for _, text := range paths {
			out = append(out, path(t, text))
		}
		return projection.NewFieldSet(out...)
	}
	obj := decoded(t, `{"a": 1, "m": {"x": 1}, "t": "text", "s": [1], "l": [{"k": 9007199254740993, "v": 1}, {"k": 2}]}`)
	filled := set("m", "t", "s", "l[k=9007199254740992]", "gone")
	d := Declaration{Fields: filled.Union(set("a")), Filled: filled}

	assert.Equal(t, decoded(t, `{"a": 1, "m": {}, "t": "text", "s": [], "l": [{"k": 9007199254740993}]}`), d.Project(obj).Object,
		"maps and lists are empty, an item keeps its key as it is, and a text is no map")
	assert.Equal(t, decoded(t, `{"a": 1, "m": {"x": 1}, "t": "text", "s": [], "l": [{"k": 9007199254740993}]}`),
		d.ProjectWith(obj, set("m.x")).Object, "a map with fields that were asked for has these")
	assert.Equal(t, []string{"a"}, textsOf(d.Content(set("a", "m"))))
	assert.Equal(t, []string{"a", "m.x"}, textsOf(d.Content(set("a", "m.x"))))
	inner := Declaration{Fields: set("a", "o", "o.m"), Filled: set("o.m")}
	assert.Equal(t, []string{"a"}, textsOf(inner.Content(inner.Fields)), "what is above it alone would stand for all in it")
	assert.Equal(t, []string{"a", "o", "o.x"}, textsOf(inner.Content(inner.Fields.Union(set("o.x")))))

	root := projection.NewFieldSet(projection.Path{})
	assert.Equal(t, map[string]any{}, Declaration{Fields: root, Filled: root}.Project(obj).Object, "the object itself")
	require.Equal(t, int64(1), obj["m"].(map[string]any)["x"], "the object stays as it is")
}
