package planner_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/test/lab"
)

func TestApplyNeverDoesWhatWasNotReviewed(t *testing.T) {
	c := newCluster(t)
	tests := []struct {
		why       string
		exists    bool
		meanwhile func(t *testing.T, m *unstructured.Unstructured)
		check     func(t *testing.T, err error)
	}{
		{"an object that appears after the plan is not adopted", false, func(t *testing.T, m *unstructured.Unstructured) {
			c.createAs(t, "somebody", m)
		}, func(t *testing.T, err error) { require.True(t, apierrors.IsConflict(err), "%v", err) }},
		{"somebody else's change of another field changes nothing that was reviewed", true, func(t *testing.T, m *unstructured.Unstructured) {
			c.Patch(t, "somebody", m, `{"data":{"x":"theirs"}}`)
		}, func(t *testing.T, err error) { require.NoError(t, err) }},
		{"somebody else's change of our field is another plan", true, func(t *testing.T, m *unstructured.Unstructured) {
			c.Patch(t, "somebody", m, `{"data":{"a":"theirs"}}`)
		}, isChanged(ssaplan.ActionUpdate)},
		{"an object that was removed would be created", true, func(t *testing.T, m *unstructured.Unstructured) {
			c.Delete(t, m)
		}, isChanged(ssaplan.ActionCreate)},
		{"an object that was re-created is another object", true, func(t *testing.T, m *unstructured.Unstructured) {
			c.Delete(t, m)
			c.createAs(t, "", m)
		}, isChanged(ssaplan.ActionUpdate)},
	}
	for i, test := range tests {
		t.Run(test.why, func(t *testing.T) {
			m := manifest(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: guarded-%d}, data: {a: A}}", i)
			if test.exists {
				c.apply(t, m)
				set(m, "B", "data", "a")
			}
			plan := c.plan(t, ssaplan.Request{Manifest: m})
			test.meanwhile(t, m)
			_, err := c.planner.Apply(lab.Context(t), plan)
			test.check(t, err)
			if err != nil {
				require.ErrorContains(t, err, m.GetName())
				return
			}
			require.Equal(t, map[string]any{"a": "B", "x": "theirs"}, c.Get(t, m).Object["data"])
		})
	}
}

func isChanged(action ssaplan.Action) func(*testing.T, error) {
	return func(t *testing.T, err error) {
		var changed *ssaplan.ChangedError
		require.ErrorAs(t, err, &changed)
		require.Equal(t, action, changed.Plan.Action)
	}
}

// A server looks for conflicts before it compares versions, so who applies without force to an outdated object may hear
// of the one or of the other.
func TestApplyWithoutForceToAnOutdatedObject(t *testing.T) {
	c := newCluster(t)
	polite := c.polite(t)
	m := manifest(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: polite}, data: {a: A}}")
	c.apply(t, m)
	set(m, "B", "data", "a")

	plan, err := polite.Plan(t.Context(), ssaplan.Request{Manifest: m})
	require.NoError(t, err)
	c.Patch(t, "somebody", m, `{"data":{"x":"theirs"}}`)
	_, err = polite.Apply(lab.Context(t), plan)
	require.NoError(t, err, "another field changes nothing that was reviewed")

	set(m, "C", "data", "a")
	plan, err = polite.Plan(t.Context(), ssaplan.Request{Manifest: m})
	require.NoError(t, err)
	c.Patch(t, "somebody", m, `{"data":{"a":"theirs"}}`)
	_, err = polite.Apply(lab.Context(t), plan)
	isChanged(ssaplan.ActionConflict)(t, err)
	require.Equal(t, "theirs", c.Get(t, m).Object["data"].(map[string]any)["a"])
}

// The apply that takes away the last finalizer of an object that is being deleted removes it. That was not reviewed if
// the object was deleted afterwards.
func TestApplyLetsNoObjectVanish(t *testing.T) {
	c := newCluster(t)
	m := manifest(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: vanishing, finalizers: [example.com/keep]}, data: {a: A}}")
	c.apply(t, m)
	unstructured.RemoveNestedField(m.Object, "metadata", "finalizers")
	plan := c.plan(t, ssaplan.Request{Manifest: m})
	c.Delete(t, m)

	_, err := c.planner.Apply(lab.Context(t), plan)
	isChanged(ssaplan.ActionUpdate)(t, err)
	var changed *ssaplan.ChangedError
	require.ErrorAs(t, err, &changed)
	require.Contains(t, fmt.Sprint(changed.Plan.Warnings), "the object will be deleted")
	c.Get(t, m)
	_, err = c.planner.Apply(lab.Context(t), changed.Plan)
	require.NoError(t, err, "now that was reviewed")
	_, err = c.Resource(t, m).Get(t.Context(), m.GetName(), metav1.GetOptions{})
	require.True(t, apierrors.IsNotFound(err))
}

// The server sends the same warning at each request for some kinds, such as Endpoints. Such a warning doesn't keep
// Apply from applying the reviewed plan after another client changed the object.
func TestWarningsOfTheServerDoNotVary(t *testing.T) {
	c := newCluster(t)
	m := manifest(t, "{apiVersion: v1, kind: Endpoints, metadata: {name: warned, labels: {a: A}}}")
	c.apply(t, m)
	set(m, "B", "metadata", "labels", "a")
	plan := c.plan(t, ssaplan.Request{Manifest: m, Live: c.Get(t, m)})
	require.NotEmpty(t, plan.Warnings)
	c.Patch(t, "somebody", m, `{"metadata":{"labels":{"x":"theirs"}}}`)
	_, err := c.planner.Apply(lab.Context(t), plan)
	require.NoError(t, err)
}

// Apply rejects a plan whose manifest got another field after the review. The object already has the value of the
// field, and no manager owns it, so neither the changes nor the ownership shows the field. The request is still another
// one than the reviewed request.
func TestApplySendsWhatWasReviewed(t *testing.T) {
	c := newCluster(t)
	const deployment = `{apiVersion: apps/v1, kind: Deployment, metadata: {name: sent}, spec: {selector: {matchLabels: {a: b}},
		template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: "%s"}]}}}}`
	c.apply(t, manifest(t, deployment, "i:1"))
	m := manifest(t, deployment, "i:2")
	plan := c.plan(t, ssaplan.Request{Manifest: m})
	set(m, int64(10), "spec", "revisionHistoryLimit")
	c.Patch(t, "somebody", m, `{"metadata":{"labels":{"x":"theirs"}}}`)
	_, err := c.planner.Apply(lab.Context(t), plan)
	isChanged(ssaplan.ActionUpdate)(t, err)
	unstructured.RemoveNestedField(m.Object, "spec", "revisionHistoryLimit")
	_, err = c.planner.Apply(lab.Context(t), plan)
	require.NoError(t, err)
}
