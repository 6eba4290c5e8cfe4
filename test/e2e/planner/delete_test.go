package planner_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/ssaplan"
)

func TestDelete(t *testing.T) {
	c := newCluster(t)
	t.Run("waits for finalizers and names them", func(t *testing.T) {
		m := manifest(t, claim, "deleted", "example.com/backup", "ReadWriteOnce")
		state := c.apply(t, m)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		err := c.planner.Delete(ctx, state, ssaplan.DeleteOptions{Progress: func(identity.Identity, []string) { cancel() }})
		var stopped *ssaplan.DeleteError
		require.ErrorAs(t, err, &stopped)
		require.True(t, stopped.Accepted)
		require.Contains(t, stopped.Finalizers, "example.com/backup")
		require.ErrorContains(t, err, "example.com/backup")
		require.ErrorContains(t, err, "deleted")
		require.ErrorIs(t, err, context.Canceled)

		released := ssaplan.DeleteOptions{PollInterval: time.Millisecond, Progress: func(identity.Identity, []string) { c.dropFinalizers(t, m) }}
		require.NoError(t, c.planner.Delete(t.Context(), state, released))
		require.NoError(t, c.planner.Delete(t.Context(), state, ssaplan.DeleteOptions{}), "gone already")
	})
	t.Run("another object in its place is left as it is", func(t *testing.T) {
		m := manifest(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: theirs}}")
		state := c.apply(t, m)
		c.Delete(t, m)
		_, err := c.Resource(t, m).Create(t.Context(), m.DeepCopy(), metav1.CreateOptions{})
		require.NoError(t, err)
		require.ErrorIs(t, c.planner.Delete(t.Context(), state, ssaplan.DeleteOptions{}), ssaplan.ErrRecreated)
		require.Nil(t, c.Get(t, m).GetDeletionTimestamp())
	})
}
