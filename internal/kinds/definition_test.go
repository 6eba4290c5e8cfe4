package kinds

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestLostVersions(t *testing.T) {
	crd := func(names ...string) map[string]any {
		versions := []any{map[string]any{"served": true}, "no version"}
		for _, name := range names {
			versions = append(versions, map[string]any{"name": name})
		}
		return map[string]any{"spec": map[string]any{"group": "example.com", "versions": versions}}
	}
	assert.Equal(t, []string{"example.com/v1beta1"}, LostVersions(crd("v1beta1", "v1"), crd("v1", "v2")))
	assert.Empty(t, LostVersions(crd("v1"), crd("v1")))
	assert.Empty(t, LostVersions(nil, crd("v1")))
}
