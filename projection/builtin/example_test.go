package builtin_test

import (
	"context"
	"fmt"

	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/projection/builtin"
)

func ExampleSchema() {
	manifest := map[string]any{
		"apiVersion": "v1", "kind": "Service", "metadata": map[string]any{"name": "web"},
		"spec": map[string]any{"ports": []any{map[string]any{"port": int64(80)}}},
	}
	declaration, err := projection.PredictDeclared(context.Background(), manifest, builtin.Schema{}, projection.NoSchema{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(declaration.Fields)
	// Output:
	// spec.ports[port=80,protocol="TCP"]
	// spec.ports[port=80,protocol="TCP"].port
}
