package planner_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/ssaplan/primitives/identity"
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
	require.Equal(t, ssaplan.Replace, plan.Action)
	return m, plan
}

func (c *cluster) dropFinalizers(t *testing.T, m *unstructured.Unstructured) {
	t.Helper()
	_, err := c.resource(t, m).Patch(t.Context(), m.GetName(), types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
	require.NoError(t, err)
}

func TestReplaceWaitsForFinalizersAndResumes(t *testing.T) {
	c := newCluster(t)
	m, plan := replacement(t, c, "waits")
	old := c.live(t, m).GetUID()

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
	require.Equal(t, ssaplan.Waiting, stopped.Stage)
	require.Contains(t, stopped.Finalizers, "example.com/backup")
	require.Equal(t, seen, stopped.Finalizers)
	require.ErrorContains(t, err, "example.com/backup")
	require.ErrorIs(t, err, context.Canceled)

	c.dropFinalizers(t, m)
	obj, err := c.planner.Replace(t.Context(), plan, options)
	require.NoError(t, err)
	require.NotEqual(t, old, obj.GetUID())
	require.Equal(t, ssaplan.NoOp, c.plan(t, ssaplan.Request{Manifest: m}).Action)
}

func TestReplaceResumedByAnotherProcessIsACreate(t *testing.T) {
	c := newCluster(t)
	m, _ := replacement(t, c, "resumed")
	require.NoError(t, c.resource(t, m).Delete(t.Context(), m.GetName(), metav1.DeleteOptions{}))
	c.dropFinalizers(t, m)
	require.Equal(t, ssaplan.Create, c.plan(t, ssaplan.Request{Manifest: m}).Action)
}

func TestReplaceNeverTouchesAnotherObject(t *testing.T) {
	c := newCluster(t)
	m, plan := replacement(t, c, "other")
	require.NoError(t, c.resource(t, m).Delete(t.Context(), m.GetName(), metav1.DeleteOptions{}))
	c.dropFinalizers(t, m)
	theirs, err := c.resource(t, m).Create(t.Context(), m.DeepCopy(), metav1.CreateOptions{FieldManager: "somebody"})
	require.NoError(t, err)

	_, err = c.planner.Replace(t.Context(), plan, ssaplan.DeleteOptions{})
	var stopped *ssaplan.ReplaceError
	require.ErrorAs(t, err, &stopped)
	require.Equal(t, ssaplan.Deleting, stopped.Stage)
	live := c.live(t, m)
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
		_, err := c.resource(t, m).Create(t.Context(), m.DeepCopy(), metav1.CreateOptions{})
		require.NoError(t, err)
		_, err = c.planner.Replace(t.Context(), plan, ssaplan.DeleteOptions{})
		var stopped *ssaplan.ReplaceError
		require.ErrorAs(t, err, &stopped)
		require.Equal(t, ssaplan.Checking, stopped.Stage)
		require.Equal(t, state.UID, string(c.live(t, old).GetUID()))
		require.NoError(t, c.resource(t, m).Delete(t.Context(), m.GetName(), metav1.DeleteOptions{}))
	})
	t.Run("old goes, new comes", func(t *testing.T) {
		_, err := c.planner.Replace(t.Context(), plan, ssaplan.DeleteOptions{})
		require.NoError(t, err)
		_, err = c.resource(t, old).Get(t.Context(), old.GetName(), metav1.GetOptions{})
		require.True(t, apierrors.IsNotFound(err))
		require.Equal(t, map[string]any{"a": "A"}, c.live(t, m).Object["data"])
	})
}
