package openapi_test

import (
	"context"
	"fmt"
	"log"

	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"

	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/projection/openapi"
)

func Example() {
	// There is no server here, so the first source fails with a reason, and PredictDeclared asks the next one.
	client, err := discovery.NewDiscoveryClientForConfig(&rest.Config{Host: "http://localhost:1"})
	if err != nil {
		log.Fatal(err)
	}
	schemas := openapi.New(client.OpenAPIV3(), openapi.Options{})
	manifest := map[string]any{"apiVersion": "example.io/v1", "kind": "Widget", "spec": map[string]any{"size": int64(3)}}
	declaration, err := projection.PredictDeclared(context.Background(), manifest, schemas, projection.NoSchema{})
	fmt.Println(declaration.Source == projection.NoSchema{}, len(declaration.Skipped), err)
	fmt.Print(declaration.Fields)
	// Output:
	// true 1 <nil>
	// spec.size
}
