package ssaplan_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"

	"github.com/ssaplan/primitives/ssaplan"
)

// Plans share the records of managedFields that are equal in many objects. What a host gets of them is its own to
// change.
func TestNoHostGetsWhatPlansShare(t *testing.T) {
	for _, p := range plannings {
		manifest := object(t, p.kind, p.manifest)
		config := &rest.Config{Host: "http://recorded", QPS: -1, Transport: recorded{read(t, p.kind, "live.json"), read(t, p.kind, p.dryRun)}}
		planner := connect(t, config, ssaplan.Options{FieldManager: "bench"})
		var live, result *unstructured.Unstructured
		for range 3 {
			plan := mustPlan(t, planner, ssaplan.Request{Manifest: manifest})
			if live == nil {
				live, result = plan.Live(), plan.Result()
			}
			assert.Equal(t, live, plan.Live(), p.name)
			assert.Equal(t, result, plan.Result(), p.name)
			state, err := plan.State(plan.Result())
			require.NoError(t, err)
			reading := mustRead(t, planner, state)
			assert.Equal(t, live, reading.Live, p.name)
			for _, obj := range []*unstructured.Unstructured{plan.Live(), plan.Result(), reading.Live} {
				spoilRecords(t, obj)
			}
		}
	}
}

func spoilRecords(t *testing.T, obj *unstructured.Unstructured) {
	entries := obj.Object["metadata"].(map[string]any)["managedFields"].([]any)
	require.NotEmpty(t, entries)
	for _, entry := range entries {
		clear(entry.(map[string]any)["fieldsV1"].(map[string]any))
	}
}
