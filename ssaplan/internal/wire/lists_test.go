package wire

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/authresilience"
	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/ssaplan/internal/wiretest"
	"github.com/ssaplan/primitives/ssaplan/server"
)

func TestCount(t *testing.T) {
	const item = `{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"name":"a"}}`
	list := func(metadata, items string) string {
		return `{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","metadata":{` + metadata + `},"items":[` + items + `]}`
	}
	for _, row := range []struct {
		why, body string
		want      int
		more      bool
	}{
		{"none", list(`"resourceVersion":"1"`, ""), 0, false},
		{"one", list(`"resourceVersion":"1"`, item), 1, false},
		{"as many as the server says", list(`"continue":"x","remainingItemCount":41`, item), 42, false},
		{"more than one, if it doesn't say", list(`"continue":"x"`, item), 1, true},
		{"a server that knows no limit", list("", item+","+item), 2, false},
	} {
		transport := &wiretest.Answers{Bodies: []string{row.body}}
		var seen []server.Observation
		resource := connect(t, transport, Options{Observe: noteIn(&seen)}).Resource(wiretest.ConfigMaps, wiretest.A)
		n, more, err := resource.Count(t.Context())
		require.NoError(t, err, row.why)
		assert.Equal(t, row.want, n, row.why)
		assert.Equal(t, row.more, more, row.why)
		assert.Equal(t, 1, resource.Requests())
		assert.Equal(t, []string{"GET /api/v1/namespaces/n/configmaps"}, transport.Requests)
		require.Len(t, seen, 1)
		assert.Equal(t, "list", seen[0].Verb)
		assert.Equal(t, identity.Identity{APIVersion: "v1", Kind: "ConfigMap", Namespace: "n"}, seen[0].Object)
	}
	_, _, err := connect(t, &wiretest.Answers{Bodies: []string{wiretest.Throttled}}, Options{}).Resource(wiretest.ConfigMaps, wiretest.A).Count(t.Context())
	require.Equal(t, authresilience.ClassThrottled, authresilience.Classify(err))
}

// noteIn returns an observer that stores what it observes.
func noteIn(seen *[]server.Observation) func(context.Context, server.Observation) {
	return func(_ context.Context, o server.Observation) { *seen = append(*seen, o) }
}
