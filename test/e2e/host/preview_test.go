package host_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ssaplan/primitives/preview"
	"github.com/ssaplan/primitives/test/lab"
)

const gadgets = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gadgets.GROUP}
spec:
  group: GROUP
  scope: Namespaced
  names: {plural: gadgets, singular: gadget, kind: Gadget, listKind: GadgetList}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        required: [spec]
        properties:
          spec:
            type: object
            required: [size]
            properties:
              size: {type: integer, minimum: 1}
              color: {type: string, default: red, enum: [red, blue]}
              parts:
                type: array
                items: {type: object, required: [name], properties: {name: {type: string}, weight: {type: integer, default: 5}}}
              free: {type: object, x-kubernetes-preserve-unknown-fields: true}
              port: {x-kubernetes-int-or-string: true}
              note: {type: string, nullable: true}`

// specs are those of objects, with what is wrong with them; nothing if that is empty.
var specs = map[string]string{
	`{size: 1}`: "",
	`{size: 2, color: blue, parts: [{name: a}, {name: b, weight: 1}]}`: "",
	`{size: 1, free: {any: [1, {thing: x}]}, port: http}`:              "",
	`{size: 1, port: 80, note: null}`:                                  "",
	`{size: 1, parts: []}`:                                             "",
	`{size: 0}`:                                                        "spec.size",
	`{size: big}`:                                                      "spec.size",
	`{color: red}`:                                                     "spec.size",
	`{size: 1, color: c4n4ry}`:                                         "spec.color",
	`{size: 1, colour: red}`:                                           "the CRD has no field spec.colour",
	`{size: 1, parts: [{weight: 1}]}`:                                  "spec.parts",
	`{size: 1, parts: [{name: a, wieght: 1}]}`:                         "spec.parts[0].wieght",
}

// What is predicted is what a real server then makes, and what is refused is what it refuses.
func TestPreviewEqualsTheServer(t *testing.T) {
	c := lab.New(t)
	crd := lab.Object(t, strings.ReplaceAll(gadgets, "GROUP", c.Namespace+".example.com"))
	c.Define(t, crd)
	for spec, wrong := range specs {
		manifest := lab.Objectf(t, "{apiVersion: %s.example.com/v1, kind: Gadget, metadata: {name: a}, spec: %s}", c.Namespace, spec)
		before := manifest.DeepCopy()
		predicted, err := preview.Of(crd, manifest)
		require.Equal(t, before, manifest)
		made, refused := c.TryApply(t, manifest, metav1.PatchOptions{FieldManager: "preview", DryRun: []string{metav1.DryRunAll}})
		require.Equal(t, refused == nil, err == nil, "%s: %v; the server: %v", spec, err, refused)
		if wrong != "" {
			require.ErrorContains(t, err, wrong)
			require.NotContains(t, err.Error(), "c4n4ry")
			continue
		}
		require.JSONEq(t, asJSON(t, made.Object["spec"]), asJSON(t, predicted.Object["spec"]), spec)
	}
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	require.NoError(t, err)
	return string(text)
}
