package explain_test

import (
	"path/filepath"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/test/controlplane"
	"github.com/ssaplan/primitives/test/lab"
)

// newCluster returns the real API server, with the custom resources and the admission policies of the scenarios.
func newCluster(t *testing.T) *lab.Cluster {
	c := lab.Connect(t, controlplane.Shared(t).Config()).In("default")
	var content struct {
		Definitions []map[string]any `json:"definitions"`
		Policies    []map[string]any `json:"policies"`
	}
	readYAML(t, filepath.Join("testdata", "definitions.yaml"), &content)
	for _, definition := range content.Definitions {
		c.Define(t, &unstructured.Unstructured{Object: definition})
	}
	for _, policy := range content.Policies {
		c.Apply(t, "policies", &unstructured.Unstructured{Object: policy})
	}
	waitForPolicies(t, c)
	return c
}

// waitForPolicies waits until the server has noticed the policies.
func waitForPolicies(t *testing.T, c *lab.Cluster) {
	try := func(labels string) (*unstructured.Unstructured, error) {
		const text = "{apiVersion: v1, kind: ConfigMap, metadata: {name: probe, labels: {%s}}, data: {mode: dark}}"
		probe := lab.Objectf(t, text, labels)
		return c.TryApply(t, probe, metav1.PatchOptions{FieldManager: "probe", DryRun: []string{metav1.DryRunAll}})
	}
	lab.Eventually(t, "the policies have an effect", func() bool {
		changed, err := try("stamp: 'yes', overwrite: 'yes'")
		if err != nil {
			return false
		}
		_, denied := try("deny: 'yes'")
		mode, _, _ := unstructured.NestedString(changed.Object, "data", "mode")
		return mode == "stamped" && changed.GetAnnotations()["stamped"] == "yes" && denied != nil
	})
}
