package projection_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/internal/rows"
	"github.com/ssaplan/primitives/projection"
)

func TestNormalize(t *testing.T) {
	for _, test := range rows.Read[struct {
		Manifest, Want string
		Steps          []string
		Why            string
	}](t, "normalize") {
		manifest := object(test.Manifest)
		before := asJSON(t, manifest)
		got, steps := projection.Normalize(manifest, "")
		assert.Equal(t, object(test.Want), got, test.Why)
		assert.Equal(t, test.Steps, texts(steps), test.Why)

		again, none := projection.Normalize(got, "")
		assert.Equal(t, got, again, "once is enough")
		assert.Empty(t, none)
		overwrite(got)
		assert.Equal(t, before, asJSON(t, manifest), "the input is left alone")
	}
	got, steps := projection.Normalize(nil, "")
	assert.Empty(t, got)
	assert.Empty(t, steps)
}

func TestNormalizeShowsNoSecret(t *testing.T) {
	got, steps := projection.Normalize(object(`{apiVersion: v1, kind: Secret, stringData: {a: supersecret}}`), "")
	require.Len(t, steps, 1)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s"} {
		assert.NotContains(t, fmt.Sprintf(verb, steps), "supersecret")
		assert.NotContains(t, fmt.Sprintf(verb, steps), got["data"].(map[string]any)["a"])
	}
}

// Normalizing an object twice changes nothing more, whatever the object is.
func TestNormalizeLaws(t *testing.T) {
	for seed := range rounds {
		r := newRandom(seed)
		obj := r.object(2)
		obj["metadata"] = r.object(1)
		obj["apiVersion"], obj["kind"] = pick(r, []any{"v1", "apps/v1", "ex.io/v1", nil}), pick(r, []any{"Secret", "Deployment", "CustomResourceDefinition", nil})
		obj["stringData"], obj["data"] = r.field("m1", 1), r.field("m2", 1)
		once, _ := projection.Normalize(obj, "")
		twice, steps := projection.Normalize(once, "")
		require.Equal(t, once, twice, "seed %d", seed)
		require.Empty(t, steps, "seed %d", seed)
	}
}

func TestWhatIsNormalNeedsNoNormalizing(t *testing.T) {
	normal := 0
	for seed := range rounds {
		r := newRandom(seed)
		manifest := r.object(2)
		manifest["apiVersion"], manifest["kind"] = pick(r, []any{"v1", "example.com/v1"}), pick(r, []any{"Secret", "Widget"})
		metadata := map[string]any{"name": "n"}
		if r.IntN(3) == 0 {
			metadata[pick(r, []string{"uid", "labels", "finalizers", "annotations", "creationTimestamp", "namespace"})] = pick(r, someValues)
		}
		if r.IntN(3) == 0 {
			manifest[pick(r, []string{"status", "stringData", "data"})] = map[string]any{"a": pick(r, someValues)}
		}
		manifest["metadata"] = metadata
		got, steps := projection.Normalize(manifest, "")
		if projection.IsNormal(manifest) && !hasNull(manifest) {
			normal++
			require.Empty(t, steps, "seed %d", seed)
			require.Equal(t, manifest, got, "seed %d", seed)
		}
	}
	require.Greater(t, normal, rounds/10)
	require.Less(t, normal, rounds*9/10)
}

func hasNull(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		return slices.ContainsFunc(slices.Collect(maps.Values(v)), hasNull)
	case []any:
		return slices.ContainsFunc(v, hasNull)
	}
	return v == nil
}

func TestIsNormal(t *testing.T) {
	for text, want := range map[string]bool{
		"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: n, labels: {a: b}}\ndata: {a: b}":            true,
		"apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: n}\nspec: {template: {spec: {}}}":      true,
		"apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: n, creationTimestamp: null}\nspec: {}": false,
		"apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: n}\nstatus: {}":                        false,
		"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: n, annotations: {}}":                         false,
		"apiVersion: v1\nkind: Secret\nmetadata: {name: n}\nstringData: {a: b}":                         false,
		"apiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\nendpoints: []":                           false,
	} {
		require.Equal(t, want, projection.IsNormal(object(text)), text)
	}
}
