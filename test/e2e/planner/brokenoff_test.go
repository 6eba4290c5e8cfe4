package planner_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/authresilience"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/test/lab"
)

// A request that can't be sent or is broken off for one object is an error of that object, and says nothing of the others.
func TestRequestsThatAreBrokenOffForOneObject(t *testing.T) {
	c := newCluster(t)
	// A server resets the stream of a request for which this policy makes a list of typed objects.
	const label = "breaks-off"
	c.admit(t, `{apiVersion: admissionregistration.k8s.io/v1, kind: MutatingAdmissionPolicy, metadata: {name: %s}, spec: {
		matchConstraints: {objectSelector: {matchLabels: {test: %s}}, resourceRules: [{apiGroups: [''], apiVersions: [v1], operations: ['*'], resources: [configmaps]}]},
		failurePolicy: Fail, reinvocationPolicy: Never, mutations: [{patchType: JSONPatch, jsonPatch: {expression:
			'[JSONPatch{op: "add", path: "/metadata/ownerReferences", value: [Object.metadata.ownerReferences{apiVersion: "v1", kind: "Pod", name: "x", uid: "y"}]}]'}}]}}`, label, label)
	c.admit(t, "{apiVersion: admissionregistration.k8s.io/v1, kind: MutatingAdmissionPolicyBinding, metadata: {name: %s}, spec: {policyName: %s}}", label, label)
	const text = "{apiVersion: v1, kind: ConfigMap, metadata: {name: '%s', labels: {test: %s}}, data: {a: A}}"
	reset := ssaplan.Request{Manifest: manifest(t, text, "reset", label)}
	lab.Eventually(t, "the policy acts", func() bool {
		_, err := c.planner.Plan(t.Context(), reset)
		return err != nil
	})
	long := ssaplan.Request{Manifest: manifest(t, text, strings.Repeat("n", 2<<20), "x")}
	var requests []ssaplan.Request
	for i := range 8 {
		requests = append(requests, long, reset, ssaplan.Request{Manifest: manifest(t, text, "fine-"+string(rune('a'+i)), "x")})
		long.Manifest = manifest(t, text, strings.Repeat(string(rune('a'+i)), 2<<20), "x")
		reset.Manifest = manifest(t, text, "reset-"+string(rune('a'+i)), label)
	}
	i := 0
	for plan, err := range c.planner.PlanAll(t.Context(), requests) {
		if i%3 == 2 {
			require.NoError(t, err)
			require.Equal(t, ssaplan.ActionCreate, plan.Action)
		} else {
			require.Equal(t, authresilience.ClassBrokenOff, authresilience.Classify(err), "number %d", i)
			require.ErrorContains(t, err, "(other requests are answered)")
		}
		i++
	}
	require.Len(t, requests, i)
}
