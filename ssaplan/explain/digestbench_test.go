package explain_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/ssaplan/explain"
)

// BenchmarkStateOfSecrets shows what the digests of a Secret with 20 values take.
func BenchmarkStateOfSecrets(b *testing.B) {
	data, fields := map[string]any{}, map[string]any{}
	for i := range 20 {
		data[fmt.Sprint("k", i)], fields[fmt.Sprint("f:k", i)] = "c2FtZQ==", map[string]any{}
	}
	secret := map[string]any{"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": "s", "namespace": "n", "managedFields": []any{
		map[string]any{"manager": "us", "operation": "Apply", "apiVersion": "v1", "fieldsType": "FieldsV1", "fieldsV1": map[string]any{"f:data": fields}},
	}}, "data": data}
	for b.Loop() {
		state, err := explain.NewState(secret, secret, fieldowner.Applier{Manager: "us"}, nil)
		require.NoError(b, err)
		require.Contains(b, fmt.Sprint(state.Applied.Object), "pbkdf2")
	}
}
