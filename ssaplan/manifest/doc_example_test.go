package manifest_test

import (
	"fmt"

	"github.com/ssaplan/primitives/ssaplan/manifest"
)

func Example() {
	text := []byte("{apiVersion: v1, kind: ConfigMap, metadata: {name: web}, data: {debug: yes}}\n---\nkind: ConfigMap\n")

	manifests, failures := manifest.Parse("app.yaml", text)
	for _, m := range manifests {
		fmt.Println(m.Identity, len(m.Warnings)) // v1/ConfigMap web, and warnings about what YAML reads in an unexpected way
	}
	for _, failure := range failures {
		fmt.Println(failure) // names the file, the document and the line
	}
	// Output:
	// v1/ConfigMap web 1
	// app.yaml: document 2 (line 3): apiVersion: missing; every object needs apiVersion, kind and metadata.name
}
