package secrecy_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/ssaplan/internal/secrecy"
)

func TestPasswords(t *testing.T) {
	for why, row := range map[string]struct {
		schema string
		want   []string
	}{
		"nothing":              {`{}`, nil},
		"no field":             {`{format: password}`, nil},
		"a field":              {`{properties: {spec: {properties: {password: {type: string, format: password}, user: {type: string}}}}}`, []string{"spec.password"}},
		"an odd name":          {`{properties: {spec: {properties: {"a.b": {format: password}, "*": {format: password}}}}}`, []string{`spec["*"]`, `spec["a.b"]`}},
		"items":                {`{properties: {users: {items: {properties: {token: {format: password}}}}}}`, []string{"users[*].token"}},
		"values of a map":      {`{properties: {tokens: {additionalProperties: {format: password}}}}`, []string{"tokens.*"}},
		"any additional":       {`{properties: {tokens: {additionalProperties: true}}}`, nil},
		"one of some":          {`{properties: {p: {anyOf: [{format: password}, {type: integer}]}, q: {allOf: [{properties: {r: {format: password}}}]}}}`, []string{"p", "q.r"}},
		"twice":                {`{properties: {p: {oneOf: [{format: password}, {format: password}]}}}`, []string{"p"}},
		"another format":       {`{properties: {p: {format: date}}}`, nil},
		"what isn't a schema":  {`{properties: {p: 1}, items: [1], allOf: [1, 2]}`, nil},
		"a secret of sections": {`{properties: {p: {format: password, properties: {q: {format: password}}}}}`, []string{"p"}},
		"another schema":       {`{properties: {spec: {allOf: [{$ref: "#/components/schemas/Spec"}]}, old: {items: {$ref: "#/components/schemas/Spec"}}}}`, []string{"old[*].password", "spec.password"}},
		"a schema of a schema": {`{properties: {spec: {$ref: "#/components/schemas/Outer"}}}`, []string{"spec.inner.password"}},
		"a missing schema":     {`{properties: {spec: {$ref: "#/components/schemas/Gone"}}}`, []string{"*"}},
		"one in itself":        {`{properties: {spec: {$ref: "#/components/schemas/Tree"}}}`, []string{"*"}},
		"an endless one":       {`{properties: {spec: {$ref: "#/components/schemas/Chain"}}}`, nil},
	} {
		var schema map[string]any
		require.NoError(t, yaml.Unmarshal([]byte(row.schema), &schema))
		var document map[string]map[string]any
		require.NoError(t, yaml.Unmarshal([]byte(`{
			Spec: {properties: {password: {format: password}}}, Outer: {properties: {inner: {$ref: "#/components/schemas/Spec"}}},
			Tree: {properties: {password: {format: password}, children: {items: {$ref: "#/components/schemas/Tree"}}}},
			Chain: {properties: {next: {$ref: "#/components/schemas/Chain"}}}}`), &document))
		var got []string
		for _, p := range secrecy.Passwords(schema, document) {
			got = append(got, p.String())
		}
		require.Equal(t, row.want, got, why)
	}
	named := secrecy.Passwords(map[string]any{"properties": map[string]any{"*": map[string]any{"format": "password"}}}, nil)
	path, err := projection.ParsePath("a")
	require.NoError(t, err)
	require.False(t, named.Touches(path), "a field of that name, and no other")
}

// none says that no kind has passwords.
func none(schema.GroupVersionKind) projection.Patterns { return nil }
