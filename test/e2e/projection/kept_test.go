package projection_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/test/lab"
)

// checkKept expects that the server keeps all that the manifest has, with few exceptions.
func (c *realCluster) checkKept(t *testing.T, manifest *unstructured.Unstructured) {
	var want []string
	switch {
	case manifest.GetKind() == "CertificateSigningRequest":
		want = []string{"spec: unrecorded"}
	case manifest.GetKind() == "Pod" && c.olderThan(t, "v1.34"): // in which this feature is switched off
		want = []string{
			`spec.resourceClaims[name="gpu"].name: absent`, `spec.resourceClaims[name="gpu"].resourceClaimTemplateName: absent`,
			`spec.resourceClaims[name="net"].name: absent`, `spec.resourceClaims[name="net"].resourceClaimName: absent`,
		}
	}
	live := c.Get(t, manifest)
	owners, err := fieldowner.Read(live.Object)
	require.NoError(t, err)
	declared := owners.Declared(manifest.Object, live.Object, fieldowner.Applier{Manager: manager})
	assert.Equal(t, want, texts(declared.Ineffective), "what the server doesn't keep")
}

func texts(unkept []projection.Ineffective) []string {
	var out []string
	for _, u := range unkept {
		out = append(out, u.String())
	}
	return out
}

func (c *realCluster) testNotKept(t *testing.T) {
	for _, test := range []struct {
		manifest string
		want     []string
		why      string
	}{
		{`{apiVersion: v1, kind: Secret, metadata: {name: kept}, stringData: {a: b}}`, []string{"stringData.a: absent"}, "it becomes data"},
		{`{apiVersion: v1, kind: ConfigMap, metadata: {name: kept, finalizers: [], uid: null, labels: {}}, data: {a: b}}`, []string{"metadata.finalizers: no items"}, "an empty set declares nothing"},
		{`{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: kept}, spec: {maxUnavailable: 1, selector: {}}, status: {currentHealthy: 5}}`, []string{"status: untracked"}, "the status of a built-in kind"},
		{`{apiVersion: shapes.example.com/v1, kind: Sample, metadata: {name: kept}, spec: {text: a, texts: [], nullable: null}, status: {a: 1}}`, []string{"spec.texts: no items", "status: untracked"}, "and of a custom resource that has it as a subresource"},
		{`{apiVersion: shapes.example.com/v1, kind: Plain, metadata: {name: kept}, spec: {text: a, withDefault: null}, status: {a: 1}}`, nil, "but not if it is a field"},
	} {
		manifest := lab.Object(t, test.manifest)
		answer := c.Apply(t, manager, manifest)
		assert.Equal(t, test.want, texts(projection.FindIneffective(manifest.Object, answer.Object, recorded(t, answer))), test.why)
	}
}

// A normalized manifest does what its author expects: nothing of it is lost, and what is taken out of it goes.
func (c *realCluster) testNormalize(t *testing.T) {
	apply := func(text string) *unstructured.Unstructured {
		normal, _ := projection.Normalize(lab.Object(t, text).Object, "")
		manifest := &unstructured.Unstructured{Object: normal}
		answer := c.Apply(t, manager, manifest)
		assert.Empty(t, projection.FindIneffective(normal, answer.Object, recorded(t, answer)))
		return answer
	}
	answer := apply(`{apiVersion: v1, kind: Secret, metadata: {name: normal, uid: null}, stringData: {a: one, b: two}, data: {a: eA==, c: eA==}}`)
	assert.Equal(t, map[string]any{"a": "b25l", "b": "dHdv", "c": "eA=="}, answer.Object["data"])
	answer = apply(`{apiVersion: v1, kind: Secret, metadata: {name: normal}, stringData: {b: three}}`)
	assert.Equal(t, map[string]any{"b": "dGhyZWU="}, answer.Object["data"], "the keys that are no longer there are gone")

	answer = apply(`{apiVersion: v1, kind: ConfigMap, metadata: {name: normal, creationTimestamp: null, generation: 7}, data: {a: null, b: x}}`)
	assert.Equal(t, map[string]any{"a": "", "b": "x"}, answer.Object["data"], "null is stored as an empty text")
	_, tracked, err := unstructured.NestedInt64(answer.Object, "metadata", "generation")
	require.NoError(t, err)
	assert.False(t, tracked)
}
