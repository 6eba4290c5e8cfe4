package readiness

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/ssaplan/set"
	"github.com/ssaplan/primitives/test/lab"
)

func TestReadiness(t *testing.T) {
	conditions, err := ParseConditions([]string{"Gadget.example.com=Synced"})
	require.NoError(t, err)
	for _, row := range []struct {
		why, object string
		want        set.Readiness
	}{
		{"a rollout that is under way", `{apiVersion: apps/v1, kind: Deployment, metadata: {name: a, generation: 2}, spec: {replicas: 1}, status: {observedGeneration: 1}}`,
			set.Readiness{Why: "InProgress", Said: "Deployment generation is 2, but latest observed generation is 1"}},
		{"one that is paused", `{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: {paused: true}}`, set.Readiness{Ready: true, Why: "it is paused"}},
		{"a Job that has begun", `{apiVersion: batch/v1, kind: Job, metadata: {name: a}, status: {startTime: "2026-01-01T00:00:00Z"}}`, set.Readiness{Why: "it hasn't ended"}},
		{"one that has ended", `{apiVersion: batch/v1, kind: Job, metadata: {name: a}, status: {conditions: [{type: Complete, status: "True"}]}}`,
			set.Readiness{Ready: true, Why: "condition Complete is True"}},
		{"one that has failed", `{apiVersion: batch/v1, kind: Job, metadata: {name: a}, status: {conditions: [{type: Failed, status: "True", reason: DeadlineExceeded}]}}`,
			set.Readiness{Failed: true, Why: "condition Failed is True", Said: "DeadlineExceeded"}},
		{"a suspended Job", `{apiVersion: batch/v1, kind: Job, metadata: {name: a}, spec: {suspend: true}}`, set.Readiness{Ready: true, Why: "it is suspended"}},
		{"a claim that waits for its Pod", `{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: a}, status: {phase: Pending}}`,
			set.Readiness{Ready: true, Why: "it may wait for the first Pod that uses it"}},
		{"a lost claim", `{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: a}, status: {phase: Lost}}`, set.Readiness{Failed: true, Why: "its volume is lost"}},
		{"a bound claim", `{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: a}, status: {phase: Bound}}`, set.Readiness{Ready: true}},
		{"a namespace that isn't there yet", `{apiVersion: v1, kind: Namespace, metadata: {name: a}, status: {phase: Terminating}}`, set.Readiness{Why: "phase Terminating"}},
		{"a namespace", `{apiVersion: v1, kind: Namespace, metadata: {name: a}, status: {phase: Active}}`, set.Readiness{Ready: true}},
		{"a custom resource without a status, by its rule", `{apiVersion: example.com/v1, kind: Gadget, metadata: {name: a}}`, set.Readiness{Why: "it has no condition Synced yet"}},
		{"a condition of long ago", `{apiVersion: example.com/v1, kind: Gadget, metadata: {name: a, generation: 3}, status: {observedGeneration: 2, conditions: [{type: Synced, status: "True"}]}}`,
			set.Readiness{Why: "condition Synced is of generation 2, and the object of 3"}},
		{"a condition that is of now by itself", `{apiVersion: example.com/v1, kind: Gadget, metadata: {name: a, generation: 3}, status: {observedGeneration: 2, conditions: [{type: Synced, status: "True", observedGeneration: 3}]}}`,
			set.Readiness{Ready: true}},
		{"a condition that isn't true", `{apiVersion: example.com/v1, kind: Gadget, metadata: {name: a}, status: {conditions: [{type: Synced, status: "False", message: no host}]}}`,
			set.Readiness{Why: "condition Synced is False", Said: "no host"}},
		{"a status of a condition that is none", `{apiVersion: example.com/v1, kind: Gadget, metadata: {name: a}, status: {conditions: [{type: Synced, status: hunter2, reason: Wrong, message: no host}]}}`,
			set.Readiness{Why: "condition Synced", Said: "Wrong: no host"}},
		{"another custom resource", `{apiVersion: example.com/v1, kind: Other, metadata: {name: a}, status: {conditions: [{type: Ready, status: "False", message: no host}]}}`,
			set.Readiness{Why: "InProgress", Said: "no host"}},
		{"a generation that is a text", `{apiVersion: example.com/v1, kind: Other, metadata: {name: a}, status: {observedGeneration: "1", conditions: [{type: Ready, status: "True"}]}}`,
			set.Readiness{Ready: true}},
		{"what is stalled", `{apiVersion: example.com/v1, kind: Other, metadata: {name: a}, status: {conditions: [{type: Stalled, status: "True", message: no host}]}}`,
			set.Readiness{Failed: true, Why: "Failed", Said: "no host"}},
		{"what is being deleted", `{apiVersion: batch/v1, kind: Job, metadata: {name: a, deletionTimestamp: "2026-01-01T00:00:00Z"}}`,
			set.Readiness{Why: "Terminating", Said: "Resource scheduled for deletion"}},
	} {
		assert.Equal(t, row.want, Of(conditions)(lab.Object(t, row.object)), row.why)
	}
	for _, rule := range []string{"Gadget", "=Ready", "Gadget="} {
		_, err := ParseConditions([]string{rule})
		assert.ErrorContains(t, err, "expected a kind and a condition")
	}
}
