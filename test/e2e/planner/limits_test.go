package planner_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/test/lab"
)

// TestNoOpThatIsWrittenForItsTime shows a limit of dry runs: two records of the same second change places when an apply
// in the next one, which changes nothing, gives one of them its time.
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
		lab.NextSecond()
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

// narrowing has a version that lacks what the other one fills in, and nothing that converts one into the other.
const narrowing = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: narrows.versions.example.com}
spec:
  group: versions.example.com
  scope: Namespaced
  names: {plural: narrows, singular: narrow, kind: Narrow, listKind: NarrowList}
  versions:
  - name: v1
    served: true
    storage: false
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {size: {type: integer}}}}}}
  - name: v2
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties: {size: {type: integer}, a: {type: string, default: x}, b: {type: string, default: "y"}}
`

// TestVersionThatLacksFields shows a limit of servers: once somebody applied an object in a version that can't hold all
// of it, every apply in the other one is refused for a field that isn't in the manifest, one of them each time.
func TestVersionThatLacksFields(t *testing.T) {
	c := newCluster(t)
	c.Define(t, lab.Object(t, narrowing))
	wide := manifest(t, "{apiVersion: versions.example.com/v2, kind: Narrow, metadata: {name: narrow}, spec: {size: 1}}")
	c.apply(t, wide)
	c.Apply(t, "other", manifest(t, "{apiVersion: versions.example.com/v1, kind: Narrow, metadata: {name: narrow, labels: {a: b}}}"))

	plan, err := c.planner.Plan(t.Context(), ssaplan.Request{Manifest: wide})
	require.Nil(t, plan)
	require.Regexp(t, `dry run: \.spec\.[ab]: field not declared in schema$`, err.Error())
	_, err = c.TryApply(t, wide, metav1.PatchOptions{FieldManager: manager})
	require.Regexp(t, `^\.spec\.[ab]: field not declared in schema$`, err.Error())
}
