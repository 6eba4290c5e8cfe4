package planner_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/ssaplan/deletion"
	"github.com/ssaplan/primitives/ssaplan/explain"
	"github.com/ssaplan/primitives/test/lab"
)

// Objects of a definition and the definition itself are deleted side by side: the server deletes the objects, too, and
// in the end doesn't serve their kind. Neither is a failure of a delete.
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
			errs <- c.planner.Delete(lab.Context(t), state, deletion.Options{PollInterval: 50 * time.Millisecond})
		}()
	}
	for range states {
		require.NoError(t, <-errs)
	}
	require.Nil(t, c.Lookup(t, definition))
}
