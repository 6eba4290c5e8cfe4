package controller_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ssaplan/primitives/internal/clock"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/test/lab"
)

// A mutating policy comes, and no child changes. That the operator remembers that nothing would change doesn't keep it from
// writing what the policy makes of a child.
func TestAMutatingPolicyEndsWhatIsRemembered(t *testing.T) {
	w := newWorld(t)
	a := w.website("a")
	noOps := ssaplan.NewNoOpCache(ssaplan.NoOpCacheOptions{ServerInterval: 100 * time.Millisecond})
	o := w.operate(func(s *settings) { s.controller.NoOps, s.time = noOps, &clock.Fake{} })
	o.noOps = noOps
	o.awaitSynced(a)
	o.eventually("remembered", func() bool {
		o.time.Advance(time.Second) // what was set up a moment ago isn't relied on
		before := noOps.Stats()
		o.resync(a)
		return noOps.Stats().Misses == before.Misses
	})
	require.Empty(t, noOps.Stats().Unseen, "the operator may look at what it has to")
	before := o.child(a, "ConfigMap")

	for _, text := range []string{
		`{apiVersion: admissionregistration.k8s.io/v1, kind: MutatingAdmissionPolicy, metadata: {name: %[1]s}, spec: {matchConstraints: {
			namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: %[1]s}},
			resourceRules: [{apiGroups: [''], apiVersions: [v1], operations: ['*'], resources: [configmaps]}]},
			failurePolicy: Fail, reinvocationPolicy: Never, mutations: [{patchType: ApplyConfiguration,
			applyConfiguration: {expression: 'Object{metadata: Object.metadata{labels: {"injected": "yes"}}}'}}]}}`,
		`{apiVersion: admissionregistration.k8s.io/v1, kind: MutatingAdmissionPolicyBinding, metadata: {name: %[1]s}, spec: {policyName: %[1]s}}`,
	} {
		obj := lab.Objectf(t, text, w.Namespace)
		w.Apply(t, "installer", obj)
		t.Cleanup(func() {
			require.NoError(t, w.Resource(t, obj).Delete(context.Background(), obj.GetName(), metav1.DeleteOptions{}))
		})
	}
	assert.Equal(t, before.GetResourceVersion(), o.child(a, "ConfigMap").GetResourceVersion())
	o.eventually("the policy is seen", func() bool {
		o.time.Advance(time.Second)
		o.resync(a)
		return o.child(a, "ConfigMap").GetLabels()["injected"] == "yes"
	})
}
