package ssaplan_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/ssaplan/primitives/ssaplan"
)

func TestNoCacheIsNoHit(t *testing.T) {
	var cache *ssaplan.NoOpCache
	require.Zero(t, cache.Stats())
}

// A webhook that came and went may have been asked before anybody saw it, so nothing counts any more that was said
// before it was gone.
func TestAConfigurationThatComesBack(t *testing.T) {
	server, planner := world(ssaplan.Options{NoOps: ssaplan.NewNoOpCache(ssaplan.NoOpCacheOptions{ServerInterval: always})})
	data := map[string]any{"mode": "dark"}
	applied(t, planner, configMap("a", data))
	requests := func(name string) int {
		return mustPlan(t, planner, ssaplan.Request{Manifest: configMap(name, data)}).Requests
	}
	require.Equal(t, []int{2, 1}, []int{requests("a"), requests("a")}, "a read and a dry run, and then it is remembered")
	webhooks := server.Client().Resource(schema.GroupVersionResource{Group: "admissionregistration.k8s.io", Version: "v1", Resource: "mutatingwebhookconfigurations"})
	webhook := manifestOf("admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration", "", "w")
	errorless(webhooks.Create(t.Context(), webhook, metav1.CreateOptions{}))
	applied(t, planner, configMap("b", data))
	requests("b") // by which it is seen
	require.NoError(t, webhooks.Delete(t.Context(), "w", metav1.DeleteOptions{}))
	require.Equal(t, []int{2, 1}, []int{requests("a"), requests("a")})
}

// Only what the server would not write is remembered: what was planned and not applied is planned again.
func TestUpdatesAreNoHit(t *testing.T) {
	cache := ssaplan.NewNoOpCache(ssaplan.NoOpCacheOptions{})
	_, planner := world(ssaplan.Options{NoOps: cache})
	applied(t, planner, configMap("a", map[string]any{"a": "A"}))
	for range 2 {
		plan := mustPlan(t, planner, ssaplan.Request{Manifest: configMap("a", map[string]any{"a": "B"})})
		require.Equal(t, ssaplan.ActionUpdate, plan.Action)
		require.Len(t, plan.Changes, 1)
	}
	require.Zero(t, cache.Stats().Entries)
}
