package planner_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/explain"
	"github.com/ssaplan/primitives/test/lab"
)

// dated gives the entries of an object's record other times, as a server with another clock or a faster machine writes
// them, and returns the object. Nothing else is left of that. A server keeps the times of entries that a write doesn't
// touch.
func (c *cluster) dated(t *testing.T, m *unstructured.Unstructured, at func(metav1.ManagedFieldsEntry) time.Time) *unstructured.Unstructured {
	t.Helper()
	entries := c.Get(t, m).GetManagedFields()
	for i := range entries {
		entries[i].Time = &metav1.Time{Time: at(entries[i])}
	}
	// Times alone would be put back. The annotation goes along, without an owner.
	c.Patch(t, "clock", m, `{"metadata": {"annotations": {"clock": "other"}}}`)
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"managedFields": entries, "annotations": map[string]any{"clock": nil}}})
	require.NoError(t, err)
	c.Patch(t, "clock", m, string(patch))
	obj := c.Get(t, m)
	require.Len(t, obj.GetManagedFields(), len(entries))
	for _, entry := range obj.GetManagedFields() {
		require.True(t, entry.Time.Time.Equal(at(entry).Truncate(time.Second)), entry)
	}
	return obj
}

// A server whose clock is set back after an apply writes earlier times than that has. Nothing false follows from that:
// drift is that of who wrote, no rival is named, and the next apply goes on.
func TestServerClockThatGoesBack(t *testing.T) {
	c := newCluster(t)
	text := "{apiVersion: v1, kind: ConfigMap, metadata: {name: %s}, data: {a: %s, b: B}}"
	for i, row := range []struct {
		why     string
		write   func(t *testing.T, m *unstructured.Unstructured)
		wants   string // the value in the next plan
		changes string // without times
	}{
		{"nothing", func(*testing.T, *unstructured.Unstructured) {}, "A", ""},
		{
			"an edit", func(t *testing.T, m *unstructured.Unstructured) { c.Patch(t, "editor", m, `{"data": {"a": "X"}}`) },
			"A", `data.a: "X" -> "A" (drifted: changed by "editor" (Update))`,
		},
		{"another value is declared", func(*testing.T, *unstructured.Unstructured) {}, "C", `data.a: "A" -> "C"`},
		{
			"an edit under the manager's name", func(t *testing.T, m *unstructured.Unstructured) {
				c.Patch(t, manager, m, `{"data": {"a": "X"}}`)
			},
			"A", `data.a: "X" -> "A" (drifted: changed by "agreement" (Update))`,
		},
		{
			"an apply under the manager's name", func(t *testing.T, m *unstructured.Unstructured) {
				c.Apply(t, manager, lab.Objectf(t, text, m.GetName(), "X"))
			},
			"A", `data.a: "X" -> "A" (drifted)`,
		},
	} {
		t.Run(row.why, func(t *testing.T) {
			object := fmt.Sprintf("back-%d", i)
			m := lab.Objectf(t, text, object, "A")
			first := c.plan(t, ssaplan.Request{Manifest: m})
			_, err := c.planner.Apply(lab.Context(t), first)
			require.NoError(t, err)
			ahead := time.Now().Add(time.Hour)
			state, err := first.State(c.dated(t, m, func(metav1.ManagedFieldsEntry) time.Time { return ahead }))
			require.NoError(t, err)
			row.write(t, m)

			plan := c.plan(t, ssaplan.Request{Manifest: lab.Objectf(t, text, object, row.wants), Prior: state})
			require.Equal(t, row.changes, strings.Trim(fmt.Sprint(plan.Changes), "[]"))
			require.Nil(t, plan.Rival)
			if row.why == "an edit" {
				unremembered := c.plan(t, ssaplan.Request{Manifest: m})
				require.Equal(t, explain.CauseEdited, unremembered.Changes[0].Cause, "a limit: times are all there is to go by")
			}
			made, err := c.planner.Apply(lab.Context(t), plan)
			require.NoError(t, err)
			differences, err := plan.Differences(made)
			require.NoError(t, err)
			require.Empty(t, differences)
			after, err := plan.State(made)
			require.NoError(t, err)
			again := c.plan(t, ssaplan.Request{Manifest: lab.Objectf(t, text, object, row.wants), Prior: after})
			require.Equal(t, ssaplan.ActionNoOp, again.Action)
			require.Nil(t, again.Rival)
			require.Nil(t, explain.RivalOf(made, after))
		})
	}
}
