package definition_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/ssaplan/primitives/examples/kubectl-ssaplan/definition"
)

// keywords are all that a schema may say in a definition, each with values that differ in meaning.
var keywords = map[string][]any{
	"type": {"object", "string", "integer", "number", "boolean", "array"}, "format": {"uuid", "date"}, "title": {"a", "b"},
	"description": {"a", "b"}, "default": {"a", int64(1), map[string]any{"a": true}}, "maximum": {int64(3), 4.5}, "minimum": {int64(3), int64(4)},
	"exclusiveMaximum": {true}, "exclusiveMinimum": {true}, "maxLength": {int64(3), int64(4)}, "minLength": {int64(3), int64(4)},
	"pattern": {"^a", "^b"}, "maxItems": {int64(3), int64(4)}, "minItems": {int64(3), int64(4)}, "uniqueItems": {true}, "multipleOf": {int64(2), int64(4)},
	"enum": {[]any{"a"}, []any{"a", "b"}, []any{"c"}}, "maxProperties": {int64(3), int64(4)}, "minProperties": {int64(3), int64(4)},
	"required": {[]any{"a"}, []any{"a", "b"}}, "nullable": {true}, "example": {"a", "b"}, "externalDocs": {map[string]any{"url": "a"}},
	"allOf": {[]any{map[string]any{"minimum": int64(1)}}}, "anyOf": {[]any{map[string]any{"minimum": int64(1)}}, []any{map[string]any{"maximum": int64(1)}}},
	"oneOf": {[]any{map[string]any{"minimum": int64(1)}}}, "not": {map[string]any{"minimum": int64(1)}},
	"x-kubernetes-preserve-unknown-fields": {true}, "x-kubernetes-embedded-resource": {true}, "x-kubernetes-int-or-string": {true},
	"x-kubernetes-list-type": {"set", "map"}, "x-kubernetes-map-type": {"atomic"}, "x-kubernetes-list-map-keys": {[]any{"a"}, []any{"a", "b"}},
	"x-kubernetes-validations": {[]any{map[string]any{"rule": "a"}}, []any{map[string]any{"rule": "a", "message": "b"}}, []any{map[string]any{"rule": "b"}}},
	"additionalProperties":     {map[string]any{"type": "string"}, map[string]any{"type": "integer"}, true},
	"items":                    {map[string]any{"type": "string"}, map[string]any{"type": "integer"}},
	"properties": {
		map[string]any{"a": map[string]any{"type": "string"}},
		map[string]any{"a": map[string]any{"type": "string", "maxLength": int64(1)}, "b.c": map[string]any{"type": "object"}},
	},
}

// Whatever is said otherwise anywhere in a schema is found, and nothing is found where nothing differs.
func TestEveryDifferenceIsFound(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 5))
	pick := func(values []any) any { return runtime.DeepCopyJSONValue(values[random.IntN(len(values))]) }
	for range 40 {
		for name, values := range keywords {
			before := map[string]any{}
			for other, some := range keywords {
				if other != name && random.IntN(8) == 0 {
					before[other] = pick(some)
				}
			}
			after := runtime.DeepCopyJSON(before)
			if after[name] = pick(values); random.IntN(3) == 0 && len(values) > 1 {
				before[name] = pick(values)
			}
			for _, schema := range []map[string]any{before, after} {
				if schema["x-kubernetes-int-or-string"] == true {
					delete(schema, "type") // no server takes both
				}
				if schema["additionalProperties"] != nil {
					delete(schema, "properties") // neither
				}
			}
			nested := func(schema map[string]any) []any {
				return []any{map[string]any{"name": "v1", "served": true, "schema": map[string]any{"openAPIV3Schema": map[string]any{
					"type": "object", "properties": map[string]any{"x": map[string]any{"type": "array", "items": schema}},
				}}}}
			}
			differ := fmt.Sprint(before) != fmt.Sprint(after)
			for _, pair := range [][2]map[string]any{{before, after}, {after, before}} {
				require.Equal(t, differ, len(definition.Compare(nested(pair[0]), nested(pair[1]))) > 0, "%s: %v and %v", name, pair[0], pair[1])
			}
			assert.Empty(t, definition.Compare(nested(after), nested(after)))
		}
	}
}
