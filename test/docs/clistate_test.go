package docs_test

import (
	"bytes"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
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
	require.NoError(t, tool.deploy(t.Context(), []*unstructured.Unstructured{settings}, func() bool { return true }))
	patch(objects("default", "", "v1", "configmaps"), "kubectl", "cli-without-namespace", `{"data": {"a": null}}`)
	_, code := tool.plan(t.Context(), tool.set(t.Context(), []*unstructured.Unstructured{settings}))
	require.Equal(t, exitChanges, code)
	require.Contains(t, out.String(), "1 drifted")
}
