package planner_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ssaplan/primitives/authresilience"
	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/explain"
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

// Objects of a definition and the definition itself are deleted side by side: the server deletes the objects, too, and in
// the end doesn't serve their kind. Neither is a failure of a delete.
func TestDeleteWithTheDefinition(t *testing.T) {
	c := newCluster(t)
	definition := manifest(t, `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: zebras.zoo.example.com},
		spec: {group: zoo.example.com, scope: Cluster, names: {plural: zebras, singular: zebra, kind: Zebra}, versions: [
		{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]}}`)
	c.Define(t, definition)
	states := []*explain.State{c.apply(t, definition)}
	for i := range 20 {
		states = append(states, c.apply(t, manifest(t, "{apiVersion: zoo.example.com/v1, kind: Zebra, metadata: {name: z%d}}", i)))
	}
	errs := make(chan error, len(states))
	for _, state := range states {
		go func() {
			errs <- c.planner.Delete(t.Context(), state, ssaplan.DeleteOptions{PollInterval: 50 * time.Millisecond})
		}()
	}
	for range states {
		if err := <-errs; err != nil {
			require.Equal(t, authresilience.ClassTypeNotServed, authresilience.Classify(err), "%v", err)
			require.NotEqual(t, ssaplan.OutcomeUnknown, ssaplan.OutcomeOf(err), "%v", err)
		}
	}
	require.Nil(t, c.Lookup(t, definition))
}
