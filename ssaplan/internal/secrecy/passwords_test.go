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
	} {
		var schema map[string]any
		require.NoError(t, yaml.Unmarshal([]byte(row.schema), &schema))
		var got []string
		for _, p := range secrecy.Passwords(schema) {
			got = append(got, p.String())
		}
		require.Equal(t, row.want, got, why)
	}
	named := secrecy.Passwords(map[string]any{"properties": map[string]any{"*": map[string]any{"format": "password"}}})
	path, err := projection.ParsePath("a")
	require.NoError(t, err)
	require.False(t, named.Touches(path), "a field of that name, and no other")
}

// none says that no kind has passwords.
func none(schema.GroupVersionKind) projection.Patterns { return nil }
