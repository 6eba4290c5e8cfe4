package liveobject

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/ssaplan/internal/wiretest"
)

const (
	boxes      = `{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"g.com/v1","resources":[{"name":"boxes","kind":"Box","namespaced":true}]}`
	definition = `{"kind":"CustomResourceDefinition","apiVersion":"apiextensions.k8s.io/v1","metadata":{"name":"boxes.g.com"},"spec":{"group":"g.com",` +
		`"versions":[{"name":"v1","subresources":{"scale":{"specReplicasPath":".spec.size"}}}]}}`
)

// TestScaleOfCustomResources checks that the definition is asked where the number of replicas is, and what is said if
// it can't be read.
func TestScaleOfCustomResources(t *testing.T) {
	box := identity.Identity{APIVersion: "g.com/v1", Kind: "Box", Namespace: "n", Name: "a"}
	const live = `{"apiVersion":"g.com/v1","kind":"Box","metadata":{"name":"a","namespace":"n","uid":"u","resourceVersion":"1"},` +
		`"spec":{"size":2,"replicas":7}}`
	for _, row := range []struct {
		why, definition, warning string
		replicas                 int
	}{
		{"the definition", definition, "", 2},
		{"who may not read it", wiretest.Forbidden, "the CRD can't be read", 7},
		{"a kind without one", wiretest.Missing, "the CRD can't be read", 7},
	} {
		transport := &wiretest.Answers{Bodies: []string{boxes, row.definition, live}}
		target, err := locator(t, transport).Locate(t.Context(), box, "scale")
		require.NoError(t, err, row.why)
		obj, err := target.Live(t.Context())
		require.NoError(t, err, row.why)
		require.EqualValues(t, map[string]any{"replicas": int64(row.replicas)}, obj.Object["spec"], row.why)
		require.Equal(t, 2, target.Requests(), row.why)
		require.Contains(t, transport.Requests[1], "/customresourcedefinitions/boxes.g.com")
		require.Contains(t, fmt.Sprint(target.Warnings), row.warning)
		require.Equal(t, row.warning == "", len(target.Warnings) == 0, row.why)
	}
	_, err := locator(t, &wiretest.Answers{Bodies: []string{boxes, wiretest.Throttled}}).Locate(t.Context(), box, "scale")
	require.Error(t, err, "another failure")
	transport := &wiretest.Answers{Bodies: []string{boxes}}
	_, err = locator(t, transport).Locate(t.Context(), box, "status")
	require.NoError(t, err)
	require.Len(t, transport.Requests, 1, "another subresource")
}
