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
	"github.com/ssaplan/primitives/ssaplan/deletion"
	"github.com/ssaplan/primitives/ssaplan/write"
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

// If a deadline ends the wait of Replace, the error names the finalizers that Replace waited for.
func TestReplaceWithADeadline(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	m, plan := replacement(t, c, "stuck")
	fake := &clock.Fake{LongestSleep: time.Millisecond, TimeUp: 3}
	ctx, cancel := clock.WithTimeout(clock.With(t.Context(), fake), time.Hour)
	defer cancel()
	_, err := c.planner.Replace(ctx, plan, deletion.Options{})
	require.ErrorIs(t, err, context.DeadlineExceeded)
	var stopped *write.ReplaceError
	require.ErrorAs(t, err, &stopped)
	require.Equal(t, write.StageWaiting, stopped.Stage)
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
			_, err := c.planner.Replace(ctx, plan, deletion.Options{Progress: func(identity.Identity, []string) { cancel() }})
			var stopped *write.ReplaceError
			require.ErrorAs(t, err, &stopped)
			require.Equal(t, write.StageChecking, stopped.Stage)
			test.check(t, err)
			live := c.Get(t, m)
			require.Equal(t, state.UID, string(live.GetUID()))
			require.Nil(t, live.GetDeletionTimestamp())
		})
	}
}

// endNamespace deletes the namespace, and returns when nothing can be created in it. No controller runs that would end
// it.
func (c *cluster) endNamespace(t *testing.T) {
	namespace := manifest(t, "{apiVersion: v1, kind: Namespace, metadata: {name: %s}}", c.Namespace)
	c.Delete(t, namespace)
	other := manifest(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: other}}")
	require.Eventually(t, func() bool {
		_, err := c.Resource(t, other).Create(t.Context(), other, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return apierrors.IsForbidden(err)
	}, 30*time.Second, 10*time.Millisecond)
}
