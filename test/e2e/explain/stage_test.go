package explain_test

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/ssaplan/primitives/test/controlplane"
	"github.com/ssaplan/primitives/test/lab"
)

// stage is the real API server, with the custom resources and the admission policies of the scenarios.
type stage struct{ *lab.Cluster }

func newStage(t *testing.T) stage {
	s := stage{lab.Connect(t, controlplane.Shared(t).Config()).In("default")}
	var content struct {
		Definitions []map[string]any `json:"definitions"`
		Policies    []map[string]any `json:"policies"`
	}
	readYAML(t, filepath.Join("testdata", "definitions.yaml"), &content)
	for _, definition := range content.Definitions {
		s.Define(t, &unstructured.Unstructured{Object: definition})
	}
	for _, policy := range content.Policies {
		s.Apply(t, "policies", &unstructured.Unstructured{Object: policy})
	}
	s.waitForPolicies(t)
	return s
}

// waitForPolicies waits until the server has noticed the policies.
func (s stage) waitForPolicies(t *testing.T) {
	probe := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap",
		"metadata": map[string]any{"name": "probe"}, "data": map[string]any{"mode": "dark"},
	}}
	try := func(ctx context.Context, labels map[string]string) (*unstructured.Unstructured, error) {
		probe.SetLabels(labels)
		options := metav1.ApplyOptions{FieldManager: "probe", DryRun: []string{metav1.DryRunAll}}
		return s.Resource(t, probe).Apply(ctx, "probe", probe, options)
	}
	isNoticed := func(ctx context.Context) (bool, error) {
		changed, err := try(ctx, map[string]string{"stamp": "yes", "overwrite": "yes"})
		if err != nil {
			return false, err
		}
		_, denied := try(ctx, map[string]string{"deny": "yes"})
		mode, _, _ := unstructured.NestedString(changed.Object, "data", "mode")
		return mode == "stamped" && changed.GetAnnotations()["stamped"] == "yes" && denied != nil, nil
	}
	err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, time.Minute, true, isNoticed)
	require.NoError(t, err, "the policies have no effect")
}

// take is what came of playing a scenario.
type take struct {
	recording *recording
	err       error
}

// play plays the scenarios side by side.
func (s stage) play(ctx context.Context, scenarios []scenario) []chan take {
	takes := make([]chan take, len(scenarios))
	for i, scenario := range scenarios {
		takes[i] = make(chan take, 1)
		go func() {
			r, err := (&player{stage: s, scenario: scenario}).play(ctx)
			takes[i] <- take{r, err}
		}()
	}
	return takes
}
