package render_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/ssaplan/primitives/examples/kubectl-ssaplan/render"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/explain"
)

// structured are values that have more structure than lines: a definition, and data in texts.
func structured(t *testing.T) []*ssaplan.Plan {
	versions := func(schema string) (v any) {
		require.NoError(t, yaml.Unmarshal([]byte(`[{name: v1, served: true, storage: true, schema: {openAPIV3Schema: `+schema+`}}]`), &v))
		return v
	}
	before := versions(`{type: object, description: A widget, properties: {color: {type: string}, size: {type: integer}, hostile: {type: string}}}`)
	after := versions("{type: object, description: 'What a widget is, in so many words that they do not fit on one line of a terminal of usual width', properties: {" +
		`size: {type: integer, maximum: 9}, hostile: {type: string, pattern: "^\e[2J\u202e"}}, required: [size]}`)
	return []*ssaplan.Plan{
		{
			Object: object("apiextensions.k8s.io/v1", "CustomResourceDefinition", "", "widgets.example.com"), Action: ssaplan.ActionUpdate,
			Explanation: explain.Explanation{Changes: []explain.Change{change(t, "spec.versions", projection.OpChange, before, after)}},
		},
		{
			Object: object("v1", "ConfigMap", "shop", "dashboards"), Action: ssaplan.ActionUpdate,
			Explanation: explain.Explanation{Changes: []explain.Change{
				change(t, `data["minified.json"]`, projection.OpChange,
					`{"title":"Shop","panels":[`+strings.Repeat(`{"title":"filler","type":"graph"},`, 20)+`{"id":7,"expr":"sum(a)"}],"refresh":"10s"}`,
					`{"title":"Shop","panels":[`+strings.Repeat(`{"title":"filler","type":"graph"},`, 20)+`{"id":7,"expr":"sum(b)"},{"id":8}],"refresh":"10s"}`),
				change(t, `data["spaces.json"]`, projection.OpChange, "{\"a\": 1,\n\"b\": 2}\n", "{\"a\":1,\n\"b\": 2}\n"),
				change(t, `data["values.yaml"]`, projection.OpChange, "image:\n  tag: \"1.0\"\nscript: |\n  set -e\n  run\n", "script: |\n  set -eu\n  run\nimage: {tag: 1.0}\n"),
			}},
		},
	}
}

func TestStructuredValues(t *testing.T) {
	for name, text := range map[string]render.Text{"structure.txt": {Now: now, Width: 100}, "structure-verbose.txt": {Now: now, Verbose: true}} {
		out := text.Plans(structured(t))
		golden(t, name, out)
		assert.NotContains(t, out, "\x1b")
		assert.NotContains(t, out, "\u202e")
	}
}

// A change of a large list shows the changed item and its position, although the list is one value for the server.
func TestLargeListsAreComparedAsData(t *testing.T) {
	rules := func(expr string) any {
		var list []any
		for i := range 100 {
			list = append(list, map[string]any{"alert": fmt.Sprint("Alert", i), "expr": "up == 0", "for": "15m"})
		}
		list[42].(map[string]any)["expr"] = expr
		return list
	}
	assert.Equal(t, `~ v1/ConfigMap shop/web  update: 1 edited
  ~ data.text:
      ~ [42].expr: "up == 0" -> "up == 1"
`, render.Text{}.Plans(textPlan(t, rules("up == 0"), rules("up == 1"))))
}
