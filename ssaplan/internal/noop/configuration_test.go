package noop

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/ssaplan/primitives/ssaplan/internal/wire"
	"github.com/ssaplan/primitives/ssaplan/internal/wiretest"
)

// If a client can't list objects or read versions, these parts of the configuration are unseen.
func TestConfigurationOfAServerThatCantShowIt(t *testing.T) {
	reader := NewConfigurationReader(wire.New(&wiretest.Minimal{Kind: wiretest.ConfigMaps}, wire.Options{}))
	configured, err := reader.Read(t.Context(), wiretest.ConfigMaps.GroupVersionResource(), 0)
	require.NoError(t, err)
	assert.Equal(t, []string{
		"mutatingwebhookconfigurations", "validatingwebhookconfigurations", "validatingadmissionpolicies",
		"validatingadmissionpolicybindings", "mutatingadmissionpolicies", "mutatingadmissionpolicybindings", "the server's version",
	}, configured.Unseen)
}

// A change of the version or of the schemas is seen. Parts that the caller may not read are unseen.
func TestVersionsOfAServer(t *testing.T) {
	gv := wiretest.ConfigMap.GroupVersion()
	api := &wiretest.Capable{Minimal: wiretest.Minimal{Kind: wiretest.ConfigMaps}, Version: "1", SchemaVersions: map[schema.GroupVersion]string{gv: "a"}}
	reader := NewConfigurationReader(wire.New(api, wire.Options{}))
	look := func() Configuration {
		c, err := reader.Read(t.Context(), wiretest.ConfigMaps.GroupVersionResource(), 0)
		require.NoError(t, err)
		return c
	}
	before := look()
	assert.Empty(t, before.Unseen)
	assert.Equal(t, before.Fingerprint, look().Fingerprint)
	api.SchemaVersions[gv] = "b"
	schemas := look()
	assert.Equal(t, before.Fingerprint[1], schemas.Fingerprint[1])
	assert.NotEqual(t, before.Fingerprint[2], schemas.Fingerprint[2])
	api.Version = "2"
	assert.NotEqual(t, before.Fingerprint[1], look().Fingerprint[1])
	api.Version, api.SchemaVersions = "", nil
	assert.Equal(t, []string{"the server's version", "the schemas of v1"}, look().Unseen)
}
