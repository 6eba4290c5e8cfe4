package planner_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/projection/foreign"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/explain"
	"github.com/ssaplan/primitives/test/lab"
)

// TestRivalWithinASecond has another client apply under the planner's field manager, within the second of the planner's
// own apply. The times in managedFields don't show that apply. No other write within that second counts as such an
// apply. However slow the machine is: all records get the time of the planner's apply.
func TestRivalWithinASecond(t *testing.T) {
	c := newCluster(t)
	const (
		settings = "{apiVersion: v1, kind: ConfigMap, metadata: {name: %s, labels: {l: L}}, data: {a: A, b: B}}"
		secret   = "{apiVersion: v1, kind: Secret, metadata: {name: %s}, data: {a: Y2FuYXJ5}}"
		service  = "{apiVersion: v1, kind: Service, metadata: {name: %s}, spec: {clusterIP: '', ports: [{port: 1, targetPort: 1}], selector: {a: A}, sessionAffinityConfig: {}}}"
		workload = `{apiVersion: apps/v1, kind: Deployment, metadata: {name: %s}, spec: {replicas: 2, selector: {matchLabels: {a: b}}, strategy: {}, template: {
			metadata: {labels: {a: b}}, spec: {containers: [{name: app, image: i, args: [x], resources: {}}], volumes: [{name: v, emptyDir: {}}]}}}}`
	)
	as := func(name, patch string, subresources ...string) func(*unstructured.Unstructured) {
		return func(m *unstructured.Unstructured) { c.Patch(t, name, m, patch, subresources...) }
	}
	rival := func(value any, path ...string) func(*unstructured.Unstructured) {
		return func(m *unstructured.Unstructured) {
			other := m.DeepCopy()
			if value == nil {
				unstructured.RemoveNestedField(other.Object, path...)
			} else {
				set(other, value, path...)
			}
			c.Apply(t, manager, other)
		}
	}
	for i, row := range []struct {
		why, manifest string
		write         func(*unstructured.Unstructured)
		want          string
	}{
		{"another value", settings, rival("X", "data", "a"), "data.a"},
		{"another value in the metadata", settings, rival("X", "metadata", "labels", "l"), "metadata.labels.l"},
		{"another field", settings, rival("C", "data", "c"), "data.c"},
		{"a secret value", secret, rival("Y2FuYXJ5LTI=", "data", "a"), "data.a"},
		{"another list with one owner", workload, rival([]any{map[string]any{"name": "app", "image": "i", "args": []any{"y"}, "resources": map[string]any{}}},
			"spec", "template", "spec", "containers"), `spec.template.spec.containers[name="app"].args`},
		{"one more item", service, rival([]any{map[string]any{"port": int64(1), "targetPort": int64(1), "name": "one"}, map[string]any{"port": int64(2), "name": "two"}}, "spec", "ports"),
			`spec.ports[port=1,protocol="TCP"].name, spec.ports[port=2,protocol="TCP"].name, spec.ports[port=2,protocol="TCP"].port`},
		{"the same", workload, rival(int64(2), "spec", "replicas"), ""},

		// An apply that gives up a field leaves the same managedFields as another manager that removes the field.
		{"a field less", settings, rival(nil, "data", "b"), ""},
		{"a field that somebody removes", settings, as("somebody", `{"data": {"b": null}}`), ""},

		{"a value of somebody", settings, as("somebody", `{"data": {"a": "X"}}`), ""},
		{"a value that is updated under the same name", settings, as(manager, `{"data": {"a": "X"}}`), ""},
		{"somebody who shares all", settings, func(m *unstructured.Unstructured) { c.Apply(t, "somebody", m) }, ""},
		{"what somebody fills in", workload, as("somebody", `{"spec": {"strategy": {"rollingUpdate": {"maxSurge": 2}}}}`), ""},
		{"what a scale says", workload, as("somebody", `{"spec": {"replicas": 5}}`, "scale"), ""},
		{"a status", workload, as("somebody", `{"metadata": {"annotations": {"seen": "1"}}, "status": {"replicas": 1}}`, "status"), ""},
		{"what the server takes back", service, as("somebody", `{"spec": {"type": "ExternalName", "externalName": "a.example.com", "clusterIP": null, "clusterIPs": null, "ports": null}}`), ""},
		{"an adoption that stopped after the handover", settings, func(m *unstructured.Unstructured) { c.handOver(t, m, "theirs") }, ""},
	} {
		t.Run(row.why, func(t *testing.T) {
			m := lab.Objectf(t, row.manifest, fmt.Sprintf("rival-%d", i))
			_, err := c.planner.Apply(lab.Context(t), c.plan(t, ssaplan.Request{Manifest: m}))
			require.NoError(t, err)
			c.Patch(t, "theirs", m, `{"metadata": {"annotations": {"theirs": "1"}}}`)
			made := c.Get(t, m)
			date := func(metav1.ManagedFieldsEntry) time.Time { return applied(t, made) }
			obj := c.dated(t, m, date)
			state, err := c.plan(t, ssaplan.Request{Manifest: m}).State(obj)
			require.NoError(t, err)
			row.write(m)
			require.Equal(t, row.why != "the same", c.Get(t, m).GetResourceVersion() != obj.GetResourceVersion(), "something was written")
			live := c.dated(t, m, date)
			rival := explain.RivalOf(live, throughJSON(t, state))
			if row.want == "" {
				require.Nil(t, rival)
				return
			}
			require.NotNil(t, rival)
			require.Equal(t, row.want, projection.JoinPaths(rival.Paths))
			again := c.plan(t, ssaplan.Request{Manifest: m, Prior: state})
			require.Equal(t, rival, again.Rival)
			require.NotContains(t, fmt.Sprint(again.Warnings), "Y2FuYXJ5")
		})
	}
}

// TestRivalOfAnApplyThatChangedNothing has another client apply under the planner's field manager. The planner's own
// apply before changed no value, so managedFields have no time for it.
func TestRivalOfAnApplyThatChangedNothing(t *testing.T) {
	c := newCluster(t)
	m := lab.Object(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: timeless}, data: {a: A, b: B}}")
	c.Apply(t, "theirs", m)
	plan := c.plan(t, ssaplan.Request{Manifest: m})
	obj, err := c.planner.Apply(lab.Context(t), plan)
	require.NoError(t, err)
	require.True(t, applied(t, obj).IsZero())
	state, err := plan.State(obj)
	require.NoError(t, err)
	c.Patch(t, "somebody", m, `{"data": {"b": "X"}}`)
	require.Nil(t, explain.RivalOf(c.Get(t, m), throughJSON(t, state)))
	other := m.DeepCopy()
	set(other, "X", "data", "a")
	c.Apply(t, manager, other)
	rival := explain.RivalOf(c.Get(t, m), throughJSON(t, state))
	require.NotNil(t, rival)
	require.Equal(t, "data.a", projection.JoinPaths(rival.Paths))
}

// applied returns when the planner's manager last applied the object, by its record. An apply that changed no value has
// no time.
func applied(t *testing.T, obj *unstructured.Unstructured) time.Time {
	owners, err := fieldowner.Read(obj.Object)
	require.NoError(t, err)
	for _, entry := range owners.Entries() {
		if (fieldowner.Applier{Manager: manager}).Is(entry.Owner) {
			return entry.Time
		}
	}
	require.Fail(t, "nothing is recorded")
	return time.Time{}
}

// throughJSON returns the state as another run of a host reads it.
func throughJSON(t *testing.T, state *explain.State) *explain.State {
	text, err := json.Marshal(state)
	require.NoError(t, err)
	require.NotContains(t, string(text), "Y2FuYXJ5")
	read := &explain.State{}
	require.NoError(t, json.Unmarshal(text, read))
	return read
}

// handOver makes all that a manager has the planner's, as the first of the two writes of an adoption does.
func (c *cluster) handOver(t *testing.T, m *unstructured.Unstructured, from string) {
	handover, err := fieldowner.HandOver(c.Get(t, m).Object, func(e fieldowner.Entry) fieldowner.Entry {
		if string(e.Manager) == from {
			e.Manager, e.Operation, e.Time = foreign.Text(manager), fieldowner.OperationApply, time.Time{}
		}
		return e
	})
	require.NoError(t, err)
	patch, err := handover.Patch()
	require.NoError(t, err)
	_, err = c.Resource(t, m).Patch(t.Context(), m.GetName(), types.JSONPatchType, patch, metav1.PatchOptions{FieldManager: manager})
	require.NoError(t, err)
}
