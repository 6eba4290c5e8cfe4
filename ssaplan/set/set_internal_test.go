package set

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/ssaplan/primitives/internal/clock"
	"github.com/ssaplan/primitives/ssaplan"
)

func TestPatienceOption(t *testing.T) {
	planner, _ := newPlanner(t)
	require.Equal(t, time.Minute, newSet(t, planner, Options{}).options.Patience)
	require.Equal(t, time.Second, newSet(t, planner, Options{Patience: time.Second}).options.Patience)
	require.Equal(t, time.Minute, NewRemoval(planner, nil, RemovalOptions{}).options.Patience)
	require.Equal(t, time.Second, NewRemoval(planner, nil, RemovalOptions{Patience: time.Second}).options.Patience)
	require.Equal(t, clock.Backoff{Next: 20 * time.Millisecond, Longest: time.Second}, pauses())
}

// Versions that a CRD of the set loses are those of entries of the object, not of its subresources.
func TestRequestWithLostVersions(t *testing.T) {
	const gadget = "{apiVersion: example.com/v1, kind: Gadget, metadata: {name: a, namespace: shop}}"
	planner, _ := newPlanner(t)
	s := New(planner, []ssaplan.Request{
		{Manifest: object(t, gadget), LostVersions: []string{"v1alpha1"}}, {Manifest: object(t, gadget), Subresource: "status"}, {},
	}, Options{})
	s.lost[schema.GroupKind{Group: "example.com", Kind: "Gadget"}] = lost{0, []string{"v1beta1"}}
	require.Equal(t, []string{"v1alpha1", "v1beta1"}, s.request(0).LostVersions)
	require.Equal(t, []string{"v1alpha1"}, s.requests[0].LostVersions, "the caller's request stays as it is")
	require.Empty(t, s.request(1).LostVersions)
	require.Empty(t, s.request(2).LostVersions)
}
