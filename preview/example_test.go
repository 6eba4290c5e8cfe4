package preview_test

import (
	"fmt"
	"log"

	"github.com/ssaplan/primitives/preview"
	"github.com/ssaplan/primitives/ssaplan/manifest"
)

const app = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gadgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: gadgets, singular: gadget, kind: Gadget, listKind: GadgetList}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            required: [size]
            properties:
              size: {type: integer, minimum: 1}
              color: {type: string, default: red, enum: [red, blue]}
---
{apiVersion: example.com/v1, kind: Gadget, metadata: {name: a}, spec: {size: 1}}`

func Example() {
	files, _ := manifest.Parse("app.yaml", []byte(app))
	crd, gadget := files[0].Object, files[1].Object

	object, err := preview.Of(crd, gadget) // the error names fields and values that the CRD doesn't allow
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(object.Object["spec"]) // map[color:red size:1]: with the defaults
	// Output:
	// map[color:red size:1]
}
