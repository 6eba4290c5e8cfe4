package kinds_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ssaplan/primitives/internal/kinds"
)

func TestFieldsAreSorted(t *testing.T) {
	assert.True(t, slices.IsSorted(kinds.ServerMetadata), "reports follow this order")
	assert.True(t, slices.IsSorted(kinds.MetadataContainers), "and this one")
}

func TestResetFields(t *testing.T) {
	assert.Equal(t, []string{"status"}, kinds.ResetFields("apps/v1", "Deployment"))
	assert.Equal(t, []string{"status", "spec"}, kinds.ResetFields("certificates.k8s.io/v1", "CertificateSigningRequest"))
	assert.Equal(t, []string{"status"}, kinds.ResetFields("ex.io/v1", "CertificateSigningRequest"), "a custom kind of the same name")
}

func TestAtCreate(t *testing.T) {
	assert.Equal(t, "status", kinds.AtCreate("v1", "Node"))
	assert.Equal(t, "spec", kinds.AtCreate("certificates.k8s.io/v1", "CertificateSigningRequest"))
	assert.Empty(t, kinds.AtCreate("v1", "Pod"))
	assert.Empty(t, kinds.AtCreate("ex.io/v1", "Node"), "a custom kind of the same name")
}

func TestHoldsAnyJSON(t *testing.T) {
	for _, row := range []struct {
		kind, name string
		depth      int
		want       bool
		why        string
	}{
		{"ControllerRevision", "data", 1, true, "what a controller keeps"},
		{"ControllerRevision", "data", 2, false, "only there"},
		{"CustomResourceDefinition", "openAPIV3Schema", 5, true, "wherever the versions have it"},
		{"ResourceClaim", "parameters", 6, true, "of a driver"},
		{"ConfigMap", "data", 1, false, "texts"},
	} {
		assert.Equal(t, row.want, kinds.HoldsAnyJSON(map[string]any{"kind": row.kind}, row.name, row.depth), "%s: %s", row.kind, row.why)
	}
	assert.False(t, kinds.HoldsAnyJSON(nil, "", 0))
}

func TestIsSecret(t *testing.T) {
	assert.True(t, kinds.IsSecret(map[string]any{"apiVersion": "v1", "kind": "Secret"}))
	assert.False(t, kinds.IsSecret(map[string]any{"apiVersion": "ex.io/v1", "kind": "Secret"}), "a custom kind of the same name")
	assert.False(t, kinds.IsSecret(nil))
}

func TestMovedField(t *testing.T) {
	from, to, moves := kinds.MovedField(map[string]any{"apiVersion": "v1", "kind": "Secret"})
	assert.Equal(t, []string{"stringData", "data"}, []string{from, to})
	assert.True(t, moves)
	_, _, moves = kinds.MovedField(map[string]any{"apiVersion": "ex.io/v1", "kind": "Secret"})
	assert.False(t, moves, "a custom kind of the same name")
}

func TestIsNamespace(t *testing.T) {
	assert.True(t, kinds.IsNamespace(map[string]any{"apiVersion": "v1", "kind": "Namespace"}))
	assert.False(t, kinds.IsNamespace(map[string]any{"apiVersion": "ex.io/v1", "kind": "Namespace"}), "a custom kind of the same name")
	assert.False(t, kinds.IsNamespace(nil))
}
