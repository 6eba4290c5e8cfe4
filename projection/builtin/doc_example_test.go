package builtin_test

import (
	"context"
	"fmt"
	"log"

	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/projection/builtin"
)

func Example() {
	ctx := context.Background()
	manifest := map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "web"}, "data": map[string]any{"mode": "dark"}}

	prediction, err := projection.PredictDeclared(ctx, manifest, builtin.Schema{}, projection.NoSchema{})
	if err != nil {
		log.Fatal(err)
	}
	for path, value := range projection.Project(manifest, prediction.Fields).Leaves() {
		fmt.Println(path, value) // data.mode dark
	}
	// Output:
	// data.mode dark
}
