package ssaplan_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/ssaplan/primitives/ssaplan"
)

func TestNoCacheIsNoHit(t *testing.T) {
	var cache *ssaplan.NoOpCache
	require.Zero(t, cache.Stats())
}

// A resync of as many objects as the cache is for sends nothing, however often.
func TestResyncsOfAFullCache(t *testing.T) {
	const many = 20
	cache := ssaplan.NewNoOpCache(ssaplan.NoOpCacheOptions{Size: many})
	_, planner := world(ssaplan.Options{NoOps: cache})
	var requests []ssaplan.Request
	for i := range many {
		m := configMap(string(rune('a'+i)), map[string]any{"mode": "dark"})
		plan, err := planner.Plan(t.Context(), ssaplan.Request{Manifest: m})
		require.NoError(t, err)
		live, err := planner.Apply(t.Context(), plan)
		require.NoError(t, err)
		requests = append(requests, ssaplan.Request{Manifest: m, Live: live})
	}
	sent := func(requests []ssaplan.Request) (sum int) {
		for plan, err := range planner.PlanAll(t.Context(), requests) {
			require.NoError(t, err)
			require.Equal(t, ssaplan.ActionNoOp, plan.Action)
			sum += plan.Requests
		}
		return sum
	}
	require.Equal(t, []int{many, 0, 0, 0}, []int{sent(requests), sent(requests), sent(requests), sent(requests)})

	require.NoError(t, unstructured.SetNestedField(requests[3].Manifest.Object, "light", "data", "mode"))
	live, err := planner.Apply(t.Context(), plan(t, planner, requests[3]))
	require.NoError(t, err)
	requests[3].Live = live
	require.Equal(t, []int{1, 0, 0}, []int{sent(requests), sent(requests), sent(requests)}, "an object that changes takes no other's place")
	stats := cache.Stats()
	require.Zero(t, stats.Evicted+stats.Expired)
	require.Equal(t, many, stats.Entries)
	require.Equal(t, []string{"the server's version"}, stats.Unseen, "a client of a host's can't ask for it")

	cache.Forget(plan(t, planner, requests[5]).Object, "status", "scale")
	require.Equal(t, 1, sent(requests))
	cache.Clear()
	require.Equal(t, many, sent(requests))
}

func plan(t *testing.T, planner *ssaplan.Planner, request ssaplan.Request) *ssaplan.Plan {
	t.Helper()
	plan, err := planner.Plan(t.Context(), request)
	require.NoError(t, err)
	return plan
}

// A webhook that came and went may have been asked before anybody saw it, so nothing counts any more that was said
// before it was gone.
func TestAConfigurationThatComesBack(t *testing.T) {
	server, planner := world(ssaplan.Options{NoOps: ssaplan.NewNoOpCache(ssaplan.NoOpCacheOptions{ServerInterval: always})})
	data := map[string]any{"mode": "dark"}
	applied(t, planner, configMap("a", data))
	requests := func(name string) int {
		return plan(t, planner, ssaplan.Request{Manifest: configMap(name, data)}).Requests
	}
	require.Equal(t, []int{2, 1}, []int{requests("a"), requests("a")}, "a read and a dry run, and then it is remembered")
	webhooks := server.Client().Resource(schema.GroupVersionResource{Group: "admissionregistration.k8s.io", Version: "v1", Resource: "mutatingwebhookconfigurations"})
	webhook := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "admissionregistration.k8s.io/v1", "kind": "MutatingWebhookConfiguration", "metadata": map[string]any{"name": "w"},
	}}
	_, err := webhooks.Create(t.Context(), webhook, metav1.CreateOptions{})
	require.NoError(t, err)
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
		plan := plan(t, planner, ssaplan.Request{Manifest: configMap("a", map[string]any{"a": "B"})})
		require.Equal(t, ssaplan.ActionUpdate, plan.Action)
		require.Len(t, plan.Changes, 1)
	}
	require.Zero(t, cache.Stats().Entries)
}
