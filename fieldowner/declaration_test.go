package fieldowner

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/internal/rows"
	"github.com/ssaplan/primitives/projection"
)

// TestDeclared has a Service of which "me" has applied the fields mine, and "you" the fields yours.
func TestDeclared(t *testing.T) {
	for _, row := range rows.Read[struct {
		Why                    string
		Manifest, Answer       string // "" for no manifest
		Mine, Yours            string
		Fields, Filled, Picked []string
		Ineffective            string
	}](t, "declared") {
		t.Run(row.Why, func(t *testing.T) {
			answer := decoded(t, row.Answer)
			answer["apiVersion"], answer["kind"] = "v1", "Service"
			if row.Mine != "" {
				addEntry(t, answer, "me", row.Mine)
			}
			if row.Yours != "" {
				addEntry(t, answer, "you", row.Yours)
			}
			var manifest map[string]any
			if row.Manifest != "" {
				manifest = decoded(t, row.Manifest)
			}
			d := mustRead(t, answer).Declared(manifest, answer, Applier{Manager: "me"})
			assert.Equal(t, row.Fields, textsOf(d.Fields))
			assert.Equal(t, row.Filled, textsOf(d.Filled), "filled")
			assert.Equal(t, row.Picked, texts(d.Assigned), "assigned")
			ineffective := ""
			if d.Ineffective != nil {
				ineffective = fmt.Sprint(d.Ineffective)
			}
			assert.Equal(t, row.Ineffective, ineffective)
		})
	}
}

// TestDeclarationProject has maps, a list and an item that were declared as empty.
func TestDeclarationProject(t *testing.T) {
	set := func(paths ...string) projection.FieldSet { return fieldSet(t, paths...) }
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
