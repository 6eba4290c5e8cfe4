package kinds_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/ssaplan/primitives/internal/kinds"
)

func TestIsBuiltin(t *testing.T) {
	for apiVersion, want := range map[string]bool{
		"v1": true, "apps/v1": true, "storage.k8s.io/v1": true, "apiextensions.k8s.io/v1": true,
		"gateway.networking.k8s.io/v1": false, "snapshot.storage.k8s.io/v1": false, "ex.io/v1": false, "x/v1": false, "": false,
	} {
		assert.Equal(t, want, kinds.IsBuiltin(map[string]any{"apiVersion": apiVersion}), apiVersion)
	}
	assert.False(t, kinds.IsBuiltin(nil))
}

func TestEveryGroupOfClientGoIsBuiltin(t *testing.T) {
	for _, version := range scheme.Scheme.PrioritizedVersionsAllGroups() {
		assert.True(t, kinds.IsBuiltin(map[string]any{"apiVersion": version.String()}), "%s", version)
	}
}
