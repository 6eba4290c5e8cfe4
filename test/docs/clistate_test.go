package docs_test

import (
	"bytes"
	"io"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// What was remembered of a manifest without a namespace is found again: only with it is a removed field known to have
// drifted.
func TestStateOfAManifestWithoutNamespace(t *testing.T) {
	tool, err := newTool(config, filepath.Join(t.TempDir(), "states.json"))
	require.NoError(t, err)
	var out bytes.Buffer
	tool.out = &out
	settings := yamlObject(`{apiVersion: v1, kind: ConfigMap, metadata: {name: cli-without-namespace}, data: {a: A, b: B}}`)
	require.NoError(t, tool.deploy(t.Context(), []*unstructured.Unstructured{settings}, agree))
	patch(objects("default", "", "v1", "configmaps"), "kubectl", "cli-without-namespace", `{"data": {"a": null}}`)
	_, code := tool.plan(t.Context(), tool.set(t.Context(), []*unstructured.Unstructured{settings}))
	require.Equal(t, exitChanges, code)
	require.Contains(t, out.String(), "1 drifted")
}

// An object stays if its manifest has another version of the kind than the state, or no namespace. An object without a
// manifest is deleted, even if nothing else changes.
func TestPruneDeletesOnlyWhatHasNoManifest(t *testing.T) {
	tool, err := newTool(config, filepath.Join(t.TempDir(), "states.json"))
	require.NoError(t, err)
	tool.out = io.Discard
	settings := yamlObject(`{apiVersion: v1, kind: ConfigMap, metadata: {name: cli-prune-settings}, data: {a: A}}`)
	leaves := yamlObject(`{apiVersion: v1, kind: ConfigMap, metadata: {name: cli-prune-leaves}, data: {a: A}}`)
	scaler := func(version string) *unstructured.Unstructured {
		return yamlObject(`{apiVersion: autoscaling/` + version + `, kind: HorizontalPodAutoscaler, metadata: {name: cli-prune},
			spec: {maxReplicas: 3, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}}}`)
	}
	require.NoError(t, tool.deploy(t.Context(), []*unstructured.Unstructured{settings, leaves, scaler("v1")}, agree))
	stay := []*unstructured.Unstructured{settings, scaler("v2")}
	require.NoError(t, tool.deploy(t.Context(), stay, agree))
	require.Len(t, tool.states, 3, "the state of the other version was found")
	require.Equal(t, "autoscaling/v2", tool.states["autoscaling//HorizontalPodAutoscaler default/cli-prune"].Identity.APIVersion)
	require.NoError(t, tool.deployAndPrune(t.Context(), stay, agree))

	_, err = objects("default", "autoscaling", "v2", "horizontalpodautoscalers").Get(t.Context(), "cli-prune", metav1.GetOptions{})
	require.NoError(t, err)
	configMaps := objects("default", "", "v1", "configmaps")
	_, err = configMaps.Get(t.Context(), "cli-prune-settings", metav1.GetOptions{})
	require.NoError(t, err)
	_, err = configMaps.Get(t.Context(), "cli-prune-leaves", metav1.GetOptions{})
	require.True(t, apierrors.IsNotFound(err), err)
}

// An object that is as its manifest says gets a state again if the states were lost. So it is deleted once it has no
// manifest any more. An object with fields of another manager is kept: it may have existed before.
func TestLostStates(t *testing.T) {
	tool, err := newTool(config, filepath.Join(t.TempDir(), "states.json"))
	require.NoError(t, err)
	tool.out = io.Discard
	own := yamlObject(`{apiVersion: v1, kind: ConfigMap, metadata: {name: cli-lost-own}, data: {a: A}}`)
	shared := yamlObject(`{apiVersion: v1, kind: ConfigMap, metadata: {name: cli-lost-shared}, data: {a: A}}`)
	require.NoError(t, tool.deploy(t.Context(), []*unstructured.Unstructured{own, shared}, agree))
	patch(objects("default", "", "v1", "configmaps"), "kubectl", "cli-lost-shared", `{"data": {"b": "B"}}`)
	clear(tool.states)
	require.NoError(t, tool.deploy(t.Context(), []*unstructured.Unstructured{own, shared}, func() bool { panic("nothing changes") }))
	require.Len(t, tool.states, 2)
	require.NoError(t, tool.deployAndPrune(t.Context(), nil, agree))
	require.Len(t, tool.states, 1)
	require.True(t, tool.states["/ConfigMap default/cli-lost-shared"].Adopted)
}
