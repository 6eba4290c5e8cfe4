package review_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/ssaplan/primitives/ssaplan/review"
)

func TestClusterIs(t *testing.T) {
	for _, row := range []struct {
		why      string
		one, two review.Cluster
		same     bool
	}{
		{"by another address", review.Cluster{UID: "u", Address: "a"}, review.Cluster{UID: "u", Address: "b"}, true},
		{"another cluster behind the same address", review.Cluster{UID: "u", Address: "a"}, review.Cluster{UID: "v", Address: "a"}, false},
		{"only one may read the namespace", review.Cluster{UID: "u", Address: "a"}, review.Cluster{Address: "a"}, true},
		{"only one may read the namespace, by another address", review.Cluster{UID: "u", Address: "a"}, review.Cluster{Address: "b"}, false},
		{"nobody may read the namespace", review.Cluster{Address: "a"}, review.Cluster{Address: "a"}, true},
		{"nobody may read the namespace, by another address", review.Cluster{Address: "a"}, review.Cluster{Address: "b"}, false},
	} {
		require.Equal(t, row.same, row.one.Is(row.two), row.why)
		require.Equal(t, row.same, row.two.Is(row.one), row.why)
		require.Equal(t, row.same && (row.one.UID == "") == (row.two.UID == ""), row.one.Key() == row.two.Key(), row.why)
	}
}

// ClusterOf returns the UID and the digest of the address, which doesn't depend on a trailing slash. If the server
// denies the request for the UID, only the address remains. Any other failure is an error.
func TestClusterOf(t *testing.T) {
	h := newHost(t)
	of := func(address string) review.Cluster {
		t.Helper()
		c, err := review.ClusterOf(t.Context(), h.planner(), address)
		require.NoError(t, err)
		return c
	}
	whole := of("https://user:password@one/")
	require.NotEmpty(t, whole.UID)
	require.Equal(t, whole, of("https://user:password@one"))
	require.NotContains(t, whole.String(), "password")
	require.True(t, whole.Is(of("https://two")))

	elsewhere := of("https://two").Address
	h.server.AnswerNext("get", apierrors.NewForbidden(schema.GroupResource{Resource: "namespaces"}, "kube-system",
		errors.New(`User "jane" cannot get resource "namespaces" in API group "" in the namespace "kube-system"`)))
	require.Equal(t, review.Cluster{Address: elsewhere}, of("https://two"))

	h.server.AnswerNext("get", apierrors.NewInternalError(errors.New("no")))
	_, err := review.ClusterOf(t.Context(), h.planner(), "https://two")
	require.Error(t, err)
}
