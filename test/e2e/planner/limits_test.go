package planner_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/ssaplan"
)

// TestNoOpThatIsWrittenForItsTime shows a limit of dry runs: two records of the same second change places when an apply in
// the next one, which changes nothing, gives one of them its time.
func TestNoOpThatIsWrittenForItsTime(t *testing.T) {
	c := newCluster(t)
	m := manifest(t, `{apiVersion: apps/v1, kind: Deployment, metadata: {name: timed}, spec: {replicas: 1, selector: {matchLabels: {a: b}},
		template: {metadata: {labels: {a: b}}, spec: {containers: [{name: app, image: "app:1"}]}}}}`)
	status := manifest(t, "{apiVersion: apps/v1, kind: Deployment, metadata: {name: timed}, status: {replicas: 1}}")
	var before *unstructured.Unstructured
	var plan *ssaplan.Plan
	for attempt := 0; plan == nil || plan.Action != ssaplan.ActionNoOp || !sameSecond(before); attempt++ {
		require.Less(t, attempt, 20, "two writes and a plan in one second")
		set(m, int64(attempt), "spec", "minReadySeconds")
		set(status, int64(attempt), "status", "replicas")
		time.Sleep(time.Until(time.Now().Truncate(time.Second).Add(time.Second)))
		c.Apply(t, manager, m)
		before = c.Apply(t, manager, status, "status")
		plan = c.plan(t, ssaplan.Request{Manifest: m})
	}

	time.Sleep(time.Until(before.GetManagedFields()[0].Time.Add(time.Second)))
	after := c.Apply(t, manager, m)
	require.NotEqual(t, before.GetResourceVersion(), after.GetResourceVersion())
	require.Equal(t, before.Object["spec"], after.Object["spec"])
	require.Equal(t, before.GetGeneration(), after.GetGeneration())
	require.Equal(t, "status", before.GetManagedFields()[1].Subresource)
	require.Equal(t, "status", after.GetManagedFields()[0].Subresource, "the records changed places")
	require.Equal(t, after.GetResourceVersion(), c.Apply(t, manager, m).GetResourceVersion(), "once")
	require.Equal(t, ssaplan.ActionNoOp, c.plan(t, ssaplan.Request{Manifest: m}).Action)
}

func sameSecond(obj *unstructured.Unstructured) bool {
	records := obj.GetManagedFields()
	return len(records) == 2 && records[0].Time.Equal(records[1].Time)
}
