package planner_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/immutability"
	"github.com/ssaplan/primitives/ssaplan"
)

// TestRenameToWhatIsRefused renames an object, and the server would refuse the new one: then the old one isn't deleted
// for nothing.
func TestRenameToWhatIsRefused(t *testing.T) {
	c := newCluster(t)
	state := c.apply(t, manifest(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: old}, data: {a: A}}"))
	_, err := c.planner.Plan(t.Context(), ssaplan.Request{
		Manifest: manifest(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: new}, data: {'a b': A}}"), Prior: state,
	})
	var refused *immutability.RefusedError
	require.ErrorAs(t, err, &refused)
	require.Equal(t, immutability.RefusalInvalid, refused.Verdict.Refusal)
	require.Equal(t, `data["a b"]`, refused.Verdict.Fields[0].Name())
	require.Contains(t, err.Error(), `data["a b"]: Invalid value`)

	old := manifest(t, "{apiVersion: v1, kind: Service, metadata: {name: old}, spec: {type: NodePort, ports: [{port: 80, nodePort: 31234}]}}")
	state = c.apply(t, old)
	t.Cleanup(func() { c.Delete(t, old) }) // no other Service can have the port
	plan := c.plan(t, ssaplan.Request{
		Manifest: manifest(t, "{apiVersion: v1, kind: Service, metadata: {name: new}, spec: {type: NodePort, ports: [{port: 80, nodePort: 31234}]}}"), Prior: state,
	})
	require.Equal(t, ssaplan.ActionReplace, plan.Action, "the port is free once the old one is gone")
}
