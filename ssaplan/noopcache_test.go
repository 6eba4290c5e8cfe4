package ssaplan

import (
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/ssaplan/internal/recent"
)

func question(change func(w *planning)) recent.Key {
	force := true
	live := &unstructured.Unstructured{Object: map[string]any{}}
	live.SetUID("u1")
	live.SetResourceVersion("23")
	w := &planning{
		plan:  &Plan{Object: identity.Identity{APIVersion: "v1", Kind: "ConfigMap", Namespace: "n", Name: "a"}},
		patch: Patch{[]byte(`{"data":{"a":"b"}}`), metav1.PatchOptions{FieldManager: "m", Force: &force}},
		live:  live,
	}
	change(w)
	return w.noOpKey(w.patch.Body)
}

func has(cache *NoOpCache, key recent.Key) bool {
	_, known := cache.answers.Get(key)
	return known
}

func TestEachPartOfTheQuestionCounts(t *testing.T) {
	no := false
	changes := map[string]func(*planning){
		"UID":                    func(p *planning) { p.live.SetUID("u2") },
		"resourceVersion":        func(p *planning) { p.live.SetResourceVersion("24") },
		"text between the parts": func(p *planning) { p.live.SetUID("u12"); p.live.SetResourceVersion("3") },
		"name":                   func(p *planning) { p.plan.Object.Name = "b" },
		"namespace":              func(p *planning) { p.plan.Object.Namespace = "o" },
		"kind":                   func(p *planning) { p.plan.Object.Kind = "Secret" },
		"apiVersion":             func(p *planning) { p.plan.Object.APIVersion = "v2" },
		"manager":                func(p *planning) { p.patch.Options.FieldManager = "o" },
		"force":                  func(p *planning) { p.patch.Options.Force = &no },
		"manifest":               func(p *planning) { p.patch.Body = []byte(`{"data":{"a":"c"}}`) },
	}
	cache := NewNoOpCache(100)
	cache.answers.Add(question(func(*planning) {}), nothing)
	require.True(t, has(cache, question(func(*planning) {})))
	for part, change := range changes {
		require.False(t, has(cache, question(change)), part)
	}
	hits, misses := cache.Stats()
	require.Equal(t, []int64{1, int64(len(changes))}, []int64{hits, misses})
}

func TestNoCacheIsNoHit(t *testing.T) {
	var cache *NoOpCache
	hits, misses := cache.Stats()
	require.Zero(t, hits+misses)
}
