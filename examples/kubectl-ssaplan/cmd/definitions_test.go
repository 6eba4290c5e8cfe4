package cmd_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/examples/kubectl-ssaplan/definition"
	"github.com/ssaplan/primitives/test/lab"
)

// What a definition is said to lose is lost on a server, and nothing else is.
func TestDefinitionsLoseWhatIsSaid(t *testing.T) {
	const open = "x-kubernetes-preserve-unknown-fields: true"
	tests := []struct{ why, before, after, spec string }{
		{"what every object has is kept, though it is named for the first time", open, open + ", properties: {apiVersion: {type: string}, kind: {type: string}, metadata: {type: object}, spec: {type: string}}", "x"},
		{"and though it isn't named any more", "properties: {metadata: {type: object}, spec: {type: string}}", "properties: {spec: {type: string}}", "x"},
		{"a field that goes", "properties: {spec: {type: object, properties: {a: {type: string}, b: {type: string}}}}", "properties: {spec: {type: object, properties: {a: {type: string}}}}", "{a: x, b: z}"},
		{"where all is kept", "properties: {spec: {type: object, properties: {a: {type: string}}}}", "properties: {spec: {type: object, " + open + "}}", "{a: x}"},
		{"where all was kept", "properties: {spec: {type: object, " + open + "}}", "properties: {spec: {type: object, properties: {a: {type: string}}}}", "{a: x, b: z}"},
		{"a map that becomes a struct", "properties: {spec: {type: object, additionalProperties: {type: string}}}", "properties: {spec: {type: object, properties: {a: {type: string}}}}", "{a: x, b: z}"},
		{"a struct that becomes a map", "properties: {spec: {type: object, properties: {a: {type: string}}}}", "properties: {spec: {type: object, additionalProperties: {type: string}}}", "{a: x}"},
		{"an empty text by default", "properties: {spec: {type: object, properties: {a: {type: string}, b: {type: string}}}}",
			"properties: {spec: {type: object, properties: {a: {type: string}, b: {type: string, default: \"\"}}}}", "{a: x}"},
		{"metadata of an object in an object", "properties: {spec: {type: object, x-kubernetes-embedded-resource: true, " + open + "}}",
			"properties: {spec: {type: object, x-kubernetes-embedded-resource: true, " + open + ", properties: {metadata: {type: object}}}}",
			"{apiVersion: v1, kind: Pod, metadata: {name: a, labels: {a: b}}, more: x}"},
	}
	t.Parallel()
	c := lab.New(t)
	for i, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			define := func(schema string) *unstructured.Unstructured {
				return lab.Objectf(t, `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: losses%[1]d.losses.example.com}
spec:
  group: losses.example.com
  scope: Namespaced
  names: {plural: losses%[1]d, singular: loss%[1]d, kind: Loss%[1]d, listKind: Loss%[1]dList}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, %[2]s}}}]
`, i, schema)
			}
			before, after := define(tt.before), define(strings.Replace(tt.after, "properties: {", "properties: {marker: {type: string, default: new}, ", 1))
			c.Define(t, before)
			object := lab.Objectf(t, "{apiVersion: losses.example.com/v1, kind: Loss%d, metadata: {name: a, labels: {l: x}}, spec: %s}", i, tt.spec)
			c.Apply(t, "somebody", object)
			was := c.Get(t, object).Object
			c.Apply(t, "definitions", after)
			var is map[string]any
			lab.Eventually(t, "the server goes by the new definition", func() bool {
				is = c.Get(t, object).Object
				return is["marker"] == "new"
			})
			lost := !keeps(was["spec"], is["spec"]) || !keeps(was["metadata"].(map[string]any)["labels"], is["metadata"].(map[string]any)["labels"])
			said := false
			for _, f := range definition.Compare(versionsOf(t, before), versionsOf(t, after)) {
				said = said || f.Class == definition.Loses && !strings.Contains(f.String(), "marker")
			}
			assert.Equal(t, lost, said, "%v became %v", was["spec"], is["spec"])
		})
	}
}

// keeps reports whether a value still has all that it had.
func keeps(was, is any) bool {
	before, wasMap := was.(map[string]any)
	after, isMap := is.(map[string]any)
	ok := wasMap && isMap
	for name, value := range before {
		ok = ok && keeps(value, after[name])
	}
	return ok || fmt.Sprint(was) == fmt.Sprint(is)
}

func versionsOf(t *testing.T, object *unstructured.Unstructured) []any {
	t.Helper()
	versions, found, err := unstructured.NestedSlice(object.Object, "spec", "versions")
	assert.True(t, found && err == nil)
	return versions
}
