package definition_test

import (
	"fmt"

	"github.com/ssaplan/primitives/examples/kubectl-ssaplan/definition"
)

func ExampleCompare() {
	version := func(schema map[string]any) []any {
		return []any{map[string]any{
			"name": "v1", "served": true, "storage": true, "schema": map[string]any{"openAPIV3Schema": schema},
		}}
	}
	before := version(map[string]any{"type": "object", "properties": map[string]any{
		"color": map[string]any{"type": "string"}, "size": map[string]any{"type": "integer"},
	}})
	after := version(map[string]any{"type": "object", "description": "A widget.", "properties": map[string]any{
		"size": map[string]any{"type": "integer", "maximum": int64(9)},
	}})
	for _, f := range definition.Compare(before, after) {
		fmt.Printf("%s (%s)\n", f, f.Class)
	}
	// Output:
	// v1 color: the field is removed, and its values are lost (loses data or breaks stored objects)
	// v1 size: maximum 9 (refuses what was allowed)
	// v1: description (widens or rewords)
}
