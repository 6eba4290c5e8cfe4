package preview_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/preview"
	"github.com/ssaplan/primitives/ssaplan/manifest"
)

func object(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	manifests, failures := manifest.Parse("object.yaml", []byte(text))
	require.Empty(t, failures)
	require.Len(t, manifests, 1)
	return manifests[0].Object
}

func TestDefinitionsThatTellNothing(t *testing.T) {
	manifest := object(t, "{apiVersion: a.example.com/v2, kind: Gadget, metadata: {name: a}, spec: {any: thing}}")
	for _, text := range []string{
		"{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: a}, spec: {versions: [{name: v1}]}}",
		"{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: a}, spec: {versions: [{name: v2}]}}",
	} {
		predicted, err := preview.Of(object(t, text), manifest)
		require.NoError(t, err)
		require.Equal(t, manifest, predicted)
	}
	_, err := preview.Of(object(t, "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: a}, spec: {versions: 1}}"), manifest)
	require.ErrorContains(t, err, "the CRD can't be read")
}
