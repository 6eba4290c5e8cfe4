package planner_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/internal/clock"
	"github.com/ssaplan/primitives/ssaplan"
)

const claim = `{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: %s, finalizers: [%s]},
	spec: {accessModes: [%s], volumeName: pv, resources: {requests: {storage: 1Gi}}}}`

// replacement returns a plan to replace a claim. The server adds a finalizer of its own to every claim.
func replacement(t *testing.T, c *cluster, name string) (*unstructured.Unstructured, *ssaplan.Plan) {
	m := manifest(t, claim, name, "example.com/backup", "ReadWriteOnce")
	c.apply(t, m)
	m = manifest(t, claim, name, "example.com/backup", "ReadWriteMany")
	plan := c.plan(t, ssaplan.Request{Manifest: m})
	require.Equal(t, ssaplan.ActionReplace, plan.Action)
	return m, plan
}

func (c *cluster) dropFinalizers(t *testing.T, m *unstructured.Unstructured) {
	t.Helper()
	c.Patch(t, "", m, `{"metadata":{"finalizers":null}}`)
}

func TestReplaceWaitsForFinalizersAndResumes(t *testing.T) {
	c := newCluster(t)
	m, plan := replacement(t, c, "waits")
	old := c.Get(t, m).GetUID()

	var seen []string
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	options := ssaplan.DeleteOptions{PollInterval: 50 * time.Millisecond, Progress: func(_ identity.Identity, finalizers []string) {
		seen = finalizers
		cancel()
	}}
	_, err := c.planner.Replace(ctx, plan, options)
	var stopped *ssaplan.ReplaceError
	require.ErrorAs(t, err, &stopped)
	require.Equal(t, ssaplan.StageWaiting, stopped.Stage)
	require.Contains(t, stopped.Finalizers, "example.com/backup")
	require.Equal(t, seen, stopped.Finalizers)
	require.ErrorContains(t, err, "example.com/backup")
	require.ErrorIs(t, err, context.Canceled)

	c.dropFinalizers(t, m)
	obj, err := c.planner.Replace(t.Context(), plan, options)
	require.NoError(t, err)
	require.NotEqual(t, old, obj.GetUID())
	require.Equal(t, ssaplan.ActionNoOp, c.plan(t, ssaplan.Request{Manifest: m}).Action)
}

func TestReplaceResumedByAnotherProcessIsACreate(t *testing.T) {
	c := newCluster(t)
	m, _ := replacement(t, c, "resumed")
	c.Delete(t, m)
	c.dropFinalizers(t, m)
	require.Equal(t, ssaplan.ActionCreate, c.plan(t, ssaplan.Request{Manifest: m}).Action)
}

func TestReplaceNeverTouchesAnotherObject(t *testing.T) {
	c := newCluster(t)
	m, plan := replacement(t, c, "other")
	c.Delete(t, m)
	c.dropFinalizers(t, m)
	theirs, err := c.Resource(t, m).Create(t.Context(), m.DeepCopy(), metav1.CreateOptions{FieldManager: "somebody"})
	require.NoError(t, err)

	_, err = c.planner.Replace(t.Context(), plan, ssaplan.DeleteOptions{})
	var stopped *ssaplan.ReplaceError
	require.ErrorAs(t, err, &stopped)
	require.Equal(t, ssaplan.StageDeleting, stopped.Stage)
	live := c.Get(t, m)
	require.Equal(t, theirs.GetUID(), live.GetUID())
	require.Nil(t, live.GetDeletionTimestamp())
}

func TestReplaceOfAnIdentity(t *testing.T) {
	c := newCluster(t)
	m := manifest(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: before}, data: {a: A}}")
	state := c.apply(t, m)
	old := m.DeepCopy()
	m.SetName("after")
	plan := c.plan(t, ssaplan.Request{Manifest: m, Prior: state})

	t.Run("nothing is deleted while the new one can't be created", func(t *testing.T) {
		_, err := c.Resource(t, m).Create(t.Context(), m.DeepCopy(), metav1.CreateOptions{})
		require.NoError(t, err)
		_, err = c.planner.Replace(t.Context(), plan, ssaplan.DeleteOptions{})
		var stopped *ssaplan.ReplaceError
		require.ErrorAs(t, err, &stopped)
		require.Equal(t, ssaplan.StageChecking, stopped.Stage)
		require.Equal(t, state.UID, string(c.Get(t, old).GetUID()))
		c.Delete(t, m)
	})
	t.Run("old goes, new comes", func(t *testing.T) {
		_, err := c.planner.Replace(t.Context(), plan, ssaplan.DeleteOptions{})
		require.NoError(t, err)
		_, err = c.Resource(t, old).Get(t.Context(), old.GetName(), metav1.GetOptions{})
		require.True(t, apierrors.IsNotFound(err))
		require.Equal(t, map[string]any{"a": "A"}, c.Get(t, m).Object["data"])
	})
}

// Whoever waits as long as a deadline allows is told what for.
func TestReplaceWithADeadline(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	m, plan := replacement(t, c, "stuck")
	fake := &clock.Fake{LongestSleep: time.Millisecond, TimeUp: 3}
	ctx, cancel := clock.WithTimeout(clock.With(t.Context(), fake), time.Hour)
	defer cancel()
	_, err := c.planner.Replace(ctx, plan, ssaplan.DeleteOptions{})
	require.ErrorIs(t, err, context.DeadlineExceeded)
	var stopped *ssaplan.ReplaceError
	require.ErrorAs(t, err, &stopped)
	require.Equal(t, ssaplan.StageWaiting, stopped.Stage)
	require.ErrorContains(t, err, "stopped while waiting: the delete waits for finalizers ")
	require.ErrorContains(t, err, "example.com/backup")
	require.NotNil(t, c.Get(t, m).GetDeletionTimestamp())
	c.dropFinalizers(t, m)
}

// What a plan found out may not hold any more when the replacement begins. Then nothing is deleted.
func TestReplaceLooksAgainBeforeItDeletes(t *testing.T) {
	var c *cluster
	const settings = "{apiVersion: v1, kind: ConfigMap, metadata: {name: settings}, data: {a: %s}, immutable: true}"
	tests := []struct {
		why       string
		meanwhile func(t *testing.T, m *unstructured.Unstructured)
		check     func(t *testing.T, err error)
	}{
		{"a new finalizer holds up the delete", func(t *testing.T, m *unstructured.Unstructured) {
			c.Patch(t, "somebody", m, `{"metadata":{"finalizers":["example.com/theirs"]}}`)
		}, func(t *testing.T, err error) {
			isChanged(ssaplan.ActionReplace)(t, err)
			var changed *ssaplan.ChangedError
			require.ErrorAs(t, err, &changed)
			require.Contains(t, fmt.Sprint(changed.Plan.Replacement.Hazards), "example.com/theirs")
		}},
		{"the new object can't be created any more", func(t *testing.T, m *unstructured.Unstructured) {
			c.endNamespace(t)
		}, func(t *testing.T, err error) {
			require.ErrorContains(t, err, "being terminated")
		}},
	}
	for _, test := range tests {
		t.Run(test.why, func(t *testing.T) {
			c = newCluster(t)
			state := c.apply(t, manifest(t, settings, "A"))
			m := manifest(t, settings, "B")
			plan := c.plan(t, ssaplan.Request{Manifest: m})
			require.Equal(t, ssaplan.ActionReplace, plan.Action)
			test.meanwhile(t, m)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			_, err := c.planner.Replace(ctx, plan, ssaplan.DeleteOptions{Progress: func(identity.Identity, []string) { cancel() }})
			var stopped *ssaplan.ReplaceError
			require.ErrorAs(t, err, &stopped)
			require.Equal(t, ssaplan.StageChecking, stopped.Stage)
			test.check(t, err)
			live := c.Get(t, m)
			require.Equal(t, state.UID, string(live.GetUID()))
			require.Nil(t, live.GetDeletionTimestamp())
		})
	}
}

// endNamespace deletes the namespace, and returns when nothing can be created in it. No controller runs that would end it.
func (c *cluster) endNamespace(t *testing.T) {
	namespace := manifest(t, "{apiVersion: v1, kind: Namespace, metadata: {name: %s}}", c.Namespace)
	c.Delete(t, namespace)
	other := manifest(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: other}}")
	require.Eventually(t, func() bool {
		_, err := c.Resource(t, other).Create(t.Context(), other, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return apierrors.IsForbidden(err)
	}, 30*time.Second, 10*time.Millisecond)
}

// Of an object of another identity the plan knows little. What its content shows to be lost with it stops the replacement,
// until somebody else deletes the object.
func TestReplaceOfAnIdentityDestroysNothingUnsaid(t *testing.T) {
	c := newCluster(t)
	const database = `{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: %s}, spec: {serviceName: db, selector: {matchLabels: {a: b}},
		persistentVolumeClaimRetentionPolicy: {whenDeleted: Delete},
		template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: i}]}}}}`
	old := manifest(t, database, "db-before")
	state := c.apply(t, old)
	plan := c.plan(t, ssaplan.Request{Manifest: manifest(t, database, "db-after"), Prior: state})
	plan.Replacement.Hazards = nil
	_, err := c.planner.Replace(t.Context(), plan, ssaplan.DeleteOptions{})
	var stopped *ssaplan.ReplaceError
	require.ErrorAs(t, err, &stopped)
	require.Equal(t, ssaplan.StageChecking, stopped.Stage)
	require.ErrorContains(t, err, "the claims of the pods are deleted with the StatefulSet")
	require.Equal(t, state.UID, string(c.Get(t, old).GetUID()))

	c.Delete(t, old)
	_, err = c.planner.Replace(t.Context(), plan, ssaplan.DeleteOptions{})
	require.NoError(t, err)
}

// An object that somebody else has put in the place of the new one stays as it is, whatever has become of the old one.
func TestReplaceAdoptsNothing(t *testing.T) {
	c := newCluster(t)
	m := manifest(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: mine}, data: {a: A}}")
	state := c.apply(t, m)
	old := m.DeepCopy()
	m.SetName("taken")
	plan := c.plan(t, ssaplan.Request{Manifest: m, Prior: state})
	theirs, err := c.Resource(t, m).Create(t.Context(), m.DeepCopy(), metav1.CreateOptions{FieldManager: "somebody"})
	require.NoError(t, err)
	for _, stage := range []ssaplan.Stage{ssaplan.StageChecking, ssaplan.StageCreating} {
		_, err = c.planner.Replace(t.Context(), plan, ssaplan.DeleteOptions{})
		var stopped *ssaplan.ReplaceError
		require.ErrorAs(t, err, &stopped)
		require.Equal(t, stage, stopped.Stage)
		require.True(t, apierrors.IsConflict(err))
		require.ErrorContains(t, err, "another object is there already (for it the plan is Update: ")
		require.ErrorContains(t, err, "plan without the prior state to adopt it")
		require.NotContains(t, err.Error(), "replace again")
		require.Equal(t, theirs.GetResourceVersion(), c.Get(t, m).GetResourceVersion())
		if stage == ssaplan.StageChecking {
			require.Equal(t, state.UID, string(c.Get(t, old).GetUID()))
			c.Delete(t, old)
		}
	}
	c.apply(t, m)
	_, err = c.planner.Replace(t.Context(), plan, ssaplan.DeleteOptions{})
	require.NoError(t, err, "what is applied as the manifest says is the object that was to be made")
}
