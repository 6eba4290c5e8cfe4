package readiness

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/ssaplan/manifest"
	"github.com/ssaplan/primitives/ssaplan/set"
)

func object(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	manifests, failures := manifest.Parse("object.yaml", []byte(text))
	require.Empty(t, failures)
	require.Len(t, manifests, 1)
	return manifests[0].Object
}

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
		assert.Equal(t, row.want, Of(conditions)(object(t, row.object)), row.why)
	}
	for _, rule := range []string{"Gadget", "=Ready", "Gadget="} {
		_, err := ParseConditions([]string{rule})
		assert.ErrorContains(t, err, "expected a kind and a condition")
	}
}

func TestFields(t *testing.T) {
	const service = `{apiVersion: v1, kind: Service, metadata: {name: a, generation: 2}, status: {observedGeneration: %d, phase: Bound, ready: true, size: 3, empty: "",
		loadBalancer: {ingress: [{ip: 10.0.0.1}]}, conditions: [{type: Ready, status: "True"}]}}`
	for _, row := range []struct {
		why    string
		fields map[string]string
		want   set.Readiness
	}{
		{"a text", map[string]string{"status.phase": "Bound"}, set.Readiness{Ready: true}},
		{"other values, as JSON", map[string]string{"status.ready": "true", "status.size": "3"}, set.Readiness{Ready: true}},
		{"no part of a text", map[string]string{"status.phase": "Bo"}, set.Readiness{Why: "status.phase has another value than the one to wait for", Said: "it is Bound"}},
		{"no pattern", map[string]string{"status.phase": ".*"}, set.Readiness{Why: "status.phase has another value than the one to wait for", Said: "it is Bound"}},
		{"any value, by position", map[string]string{"status.loadBalancer.ingress[0].ip": "*"}, set.Readiness{Ready: true}},
		{"by key", map[string]string{`status.conditions[type="Ready"].status`: "True"}, set.Readiness{Ready: true}},
		{"what is empty is no value", map[string]string{"status.empty": "*"}, set.Readiness{Why: "status.empty is empty"}},
		{"unless it is waited for", map[string]string{"status.empty": ""}, set.Readiness{Ready: true}},
		{"none", map[string]string{"status.loadBalancer.ingress[1].ip": "*"}, set.Readiness{Why: "it has no status.loadBalancer.ingress[1].ip yet"}},
		{"all of several", map[string]string{"status.phase": "Bound", "status.size": "4"}, set.Readiness{Why: "status.size has another value than the one to wait for", Said: "it is 3"}},
	} {
		fields, err := ParseFields(row.fields)
		require.NoError(t, err)
		assert.Equal(t, row.want, WithFields(fields, nil)(object(t, fmt.Sprintf(service, 2))), row.why)
		assert.Equal(t, set.Readiness{Why: "the status is of generation 1, and the object of 2"}, WithFields(fields, nil)(object(t, fmt.Sprintf(service, 1))), row.why)
	}
	unready := Of(Conditions{{Kind: "Service"}: "Synced"})
	assert.Equal(t, set.Readiness{Why: "it has no condition Synced yet"}, WithFields(nil, unready)(object(t, fmt.Sprintf(service, 2))), "both have to be")
	_, err := ParseFields(map[string]string{"status..phase": "a"})
	assert.ErrorContains(t, err, "status..phase")
}
