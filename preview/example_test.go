package preview_test

import (
	"fmt"
	"log"
	"strings"

	"github.com/ssaplan/primitives/preview"
	"github.com/ssaplan/primitives/ssaplan/manifest"
)

func Example() {
	files, _ := manifest.Parse("app.yaml", []byte(strings.ReplaceAll(definition, "GROUP", "example.com")+
		"\n---\n{apiVersion: example.com/v1, kind: Gadget, metadata: {name: a}, spec: {size: 1}}"))
	crd, gadget := files[0].Object, files[1].Object

	object, err := preview.Of(crd, gadget) // the error names fields and values that the CRD doesn't allow
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(object.Object["spec"]) // map[color:red size:1]: with the defaults
	// Output:
	// map[color:red size:1]
}
