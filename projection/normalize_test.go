package projection_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/projection"
)

func TestNormalize(t *testing.T) {
	const untracked = ": the server doesn't track what it makes of stringData"
	for _, test := range []struct {
		manifest, want string
		steps          []string
		why            string
	}{
		{`{apiVersion: v1, kind: ConfigMap, data: {a: b}}`, `{apiVersion: v1, kind: ConfigMap, data: {a: b}}`, nil, "nothing to do"},
		{
			`{apiVersion: v1, kind: ConfigMap, metadata: {labels: [], finalizers: {}}}`, `{apiVersion: v1, kind: ConfigMap, metadata: {labels: [], finalizers: {}}}`,
			nil, "empty and of another type, which a server refuses",
		},
		{
			`{apiVersion: v1, kind: Secret, stringData: {b: bar, a: ""}}`, `{apiVersion: v1, kind: Secret, data: {a: "", b: YmFy}}`,
			[]string{"stringData.a: moved to data.a" + untracked, "stringData.b: moved to data.b" + untracked}, "folded, the empty text too",
		},
		{
			`{apiVersion: v1, kind: Secret, stringData: {a: bar}, data: {a: eA==, c: eA==}}`, `{apiVersion: v1, kind: Secret, data: {a: YmFy, c: eA==}}`,
			[]string{"stringData.a: moved to data.a" + untracked + "; it replaces what data has there"}, "stringData wins, as on the server",
		},
		{
			`{apiVersion: v1, kind: Secret, stringData: {"a.b/c": "\u00e4"}, data: null}`, `{apiVersion: v1, kind: Secret, data: {a.b/c: w6Q=}}`,
			[]string{"data: dropped: null means that the field isn't there", `stringData["a.b/c"]: moved to data["a.b/c"]` + untracked}, "UTF-8, and no data yet",
		},
		{
			`{apiVersion: v1, kind: ConfigMap, metadata: {resourceVersion: "1", selfLink: /a}}`, `{apiVersion: v1, kind: ConfigMap, metadata: {resourceVersion: "1"}}`,
			[]string{"metadata.selfLink: dropped: only the server writes it"}, "a precondition stays, and what comes after it goes",
		},
		{
			`{apiVersion: v1, kind: Secret, stringData: {a: null}}`, `{apiVersion: v1, kind: Secret, data: {a: ""}}`,
			[]string{"stringData.a: moved to data.a" + untracked}, "stored as an empty text",
		},
		{
			`{apiVersion: v1, kind: Service, spec: {type: null, selector: {a: null}, ports: [{nodePort: null}]}}`,
			`{apiVersion: v1, kind: Service, spec: {selector: {a: null}, ports: [{}]}}`,
			[]string{"spec.ports[0].nodePort: dropped: null means that the field isn't there", "spec.type: dropped: null means that the field isn't there"},
			"without the key of a map, more would match",
		},
		{
			`{apiVersion: policy/v1, kind: PodDisruptionBudget, spec: {selector: {matchExpressions: null, matchLabels: {a: null}}}}`,
			`{apiVersion: policy/v1, kind: PodDisruptionBudget, spec: {selector: {matchLabels: {a: null}}}}`,
			[]string{"spec.selector.matchExpressions: dropped: null means that the field isn't there"}, "a selector with fields, and a map in it",
		},
		{`{apiVersion: v1, kind: Secret, stringData: {}}`, `{apiVersion: v1, kind: Secret}`, nil, "nothing to fold"},
		{`{apiVersion: v1, kind: Secret, stringData: {a: 5}}`, `{apiVersion: v1, kind: Secret, stringData: {a: 5}}`, nil, "left for the server to refuse"},
		{
			`{apiVersion: v1, kind: Secret, stringData: {a: 5, b: bar}}`, `{apiVersion: v1, kind: Secret, stringData: {a: 5}, data: {b: YmFy}}`,
			[]string{"stringData.b: moved to data.b" + untracked}, "and what comes after it is folded",
		},
		{`{apiVersion: v1, kind: Secret, stringData: [a], data: {}}`, `{apiVersion: v1, kind: Secret, stringData: [a], data: {}}`, nil, "this too"},
		{`{apiVersion: v1, kind: Secret, stringData: {a: b}, data: x}`, `{apiVersion: v1, kind: Secret, stringData: {a: b}, data: x}`, nil, "and this"},
		{
			`{apiVersion: v1, kind: ServiceAccount, secrets: [{name: null, kind: null}], imagePullSecrets: [{name: null}]}`,
			`{apiVersion: v1, kind: ServiceAccount, secrets: [{name: null}], imagePullSecrets: [{}]}`,
			[]string{
				"imagePullSecrets[0].name: dropped: null means that the field isn't there",
				"secrets[0].kind: dropped: null means that the field isn't there",
			}, "an item whose name has no default can't be applied without it",
		},
		{`{apiVersion: v1, kind: Secret, data: {a: null}}`, `{apiVersion: v1, kind: Secret, data: {a: ""}}`, nil, "sent as null, it would be written at each apply"},
		{`{apiVersion: v1, kind: ConfigMap, binaryData: {a: null}, data: {b: null}}`, `{apiVersion: v1, kind: ConfigMap, binaryData: {a: ""}, data: {b: null}}`, nil, "this too"},
		{`{apiVersion: ex.io/v1, kind: Secret, stringData: {a: b}}`, `{apiVersion: ex.io/v1, kind: Secret, stringData: {a: b}}`, nil, "a custom resource called so"},
		{
			`{apiVersion: ex.io/v1, kind: W, metadata: {name: a, uid: u, resourceVersion: "1", generation: 3, managedFields: [], creationTimestamp: null, labels: {a: null}}}`,
			`{apiVersion: ex.io/v1, kind: W, metadata: {name: a, uid: u, resourceVersion: "1", labels: {a: ""}}}`,
			[]string{
				"metadata.creationTimestamp: dropped: only the server writes it", "metadata.generation: dropped: only the server writes it",
				"metadata.managedFields: dropped: only the server writes it",
			}, "as exported from a server: uid and resourceVersion are preconditions",
		},
		{
			`{apiVersion: apps/v1, kind: Deployment, status: {replicas: 1}, spec: {template: {metadata: {creationTimestamp: null}, spec: {containers: [{name: a, env: null}, null]}}}}`,
			`{apiVersion: apps/v1, kind: Deployment, spec: {template: {metadata: {}, spec: {containers: [{name: a}, null]}}}}`,
			[]string{
				"status: dropped: the server ignores it in an apply", "spec.template.metadata.creationTimestamp: dropped: null means that the field isn't there",
				"spec.template.spec.containers[0].env: dropped: null means that the field isn't there",
			}, "generated manifests have both; an item that is null is the server's to refuse",
		},
		{
			`{apiVersion: ex.io/v1, kind: W, status: {a: 1}, spec: {a: null}}`, `{apiVersion: ex.io/v1, kind: W, status: {a: 1}, spec: {a: null}}`, nil,
			"in a custom resource both may mean something",
		},
		{
			`{apiVersion: v1, kind: Node, status: {capacity: {cpu: 4}}}`, `{apiVersion: v1, kind: Node, status: {capacity: {cpu: 4}}}`, nil,
			"a server stores it in a new object",
		},
		{
			`{apiVersion: snapshot.storage.k8s.io/v1, kind: VolumeSnapshot, status: {a: 1}}`, `{apiVersion: snapshot.storage.k8s.io/v1, kind: VolumeSnapshot, status: {a: 1}}`, nil,
			"custom resources live below k8s.io too",
		},
		{
			`{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, spec: {conversion: null, versions: [{schema: {openAPIV3Schema: {default: null}}}]}}`,
			`{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, spec: {versions: [{schema: {openAPIV3Schema: {default: null}}}]}}`,
			[]string{"spec.conversion: dropped: null means that the field isn't there"}, "a default may be null",
		},
		{`{apiVersion: apps/v1, kind: ControllerRevision, data: {a: null}}`, `{apiVersion: apps/v1, kind: ControllerRevision, data: {a: null}}`, nil, "arbitrary JSON"},
		{
			`{apiVersion: resource.k8s.io/v1, kind: DeviceClass, spec: {config: [{opaque: {driver: null, parameters: {a: null}}}]}}`,
			`{apiVersion: resource.k8s.io/v1, kind: DeviceClass, spec: {config: [{opaque: {parameters: {a: null}}}]}}`,
			[]string{"spec.config[0].opaque.driver: dropped: null means that the field isn't there"}, "and here",
		},
		{`{apiVersion: ex.io/v1, kind: W, metadata: {labels: 5, annotations: ""}}`, `{apiVersion: ex.io/v1, kind: W, metadata: {labels: 5, annotations: ""}}`, nil, "what is no map is the server's to refuse"},
		{
			`{apiVersion: discovery.k8s.io/v1, kind: EndpointSlice, endpoints: [{addresses: [a]}, {deprecatedTopology: {a: null}}, 5]}`,
			`{apiVersion: discovery.k8s.io/v1, kind: EndpointSlice, endpoints: [{addresses: [a]}, {}, 5]}`,
			[]string{"endpoints[1].deprecatedTopology: dropped: the server ignores it"}, "sent, it would be written at each apply",
		},
		{`{apiVersion: ex.io/v1, kind: EndpointSlice, endpoints: [{deprecatedTopology: {}}]}`,
			`{apiVersion: ex.io/v1, kind: EndpointSlice, endpoints: [{deprecatedTopology: {}}]}`, nil, "another kind"},
		{`{metadata: 5, kind: 7}`, `{metadata: 5, kind: 7}`, nil, "garbage"},
	} {
		manifest := object(test.manifest)
		before := asJSON(t, manifest)
		got, steps := projection.Normalize(manifest, "")
		assert.Equal(t, object(test.want), got, test.why)
		var texts []string
		for _, s := range steps {
			texts = append(texts, s.String())
		}
		assert.Equal(t, test.steps, texts, test.why)

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
