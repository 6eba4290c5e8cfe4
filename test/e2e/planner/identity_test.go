package planner_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/immutability"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/explain"
)

// TestVersionChange plans an object under another version of its group, which the server serves under both.
func TestVersionChange(t *testing.T) {
	c := newCluster(t)
	const target = "maxReplicas: %d, scaleTargetRef: {kind: Deployment, name: a, apiVersion: apps/v1}"
	old := manifest(t, "{apiVersion: autoscaling/v1, kind: HorizontalPodAutoscaler, metadata: {name: versions}, spec: {"+target+"}}", 3)
	state := c.apply(t, old)
	same := manifest(t, "{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: versions}, spec: {"+target+"}}", 3)
	more := manifest(t, "{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: versions}, spec: {"+target+"}}", 4)

	plan := c.plan(t, ssaplan.Request{Manifest: same, Prior: state})
	require.Equal(t, ssaplan.ActionReplace, plan.Action, "the default takes no version for another")
	require.Contains(t, plan.Reason, "version changed")

	obj, err := c.planner.Replace(t.Context(), plan, ssaplan.DeleteOptions{})
	require.NoError(t, err)
	require.NotEqual(t, state.UID, string(obj.GetUID()), "what was planned is done")
	c.Delete(t, old)
	state = c.apply(t, old)

	allowing := c.Planner(t, ssaplan.Options{FieldManager: manager, AllowVersionChange: true})
	plan, err = allowing.Plan(t.Context(), ssaplan.Request{Manifest: more, Prior: state})
	require.NoError(t, err)
	require.Equal(t, ssaplan.ActionUpdate, plan.Action, plan.Reason)
	require.Contains(t, causes(plan), "change spec.maxReplicas Edited")
	require.Equal(t, 2, plan.Requests)
	obj, err = allowing.Apply(t.Context(), plan)
	require.NoError(t, err)
	require.Equal(t, state.UID, string(obj.GetUID()))

	another := *state
	another.UID = "another"
	plan, err = allowing.Plan(t.Context(), ssaplan.Request{Manifest: more, Prior: &another})
	require.NoError(t, err)
	require.NotEqual(t, ssaplan.ActionReplace, plan.Action)
	require.Contains(t, plan.Warnings[0], "re-created")

	c.Delete(t, old)
	plan, err = allowing.Plan(t.Context(), ssaplan.Request{Manifest: more, Prior: state})
	require.NoError(t, err)
	require.Equal(t, ssaplan.ActionCreate, plan.Action, "what is gone under one version is gone under all")
}

// TestRenameToWhatIsRefused renames an object, and the server would refuse the new one: then the old one isn't deleted for nothing.
func TestRenameToWhatIsRefused(t *testing.T) {
	c := newCluster(t)
	state := c.apply(t, manifest(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: old}, data: {a: A}}"))
	_, err := c.planner.Plan(t.Context(), ssaplan.Request{
		Manifest: manifest(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: new}, data: {'a b': A}}"), Prior: state,
	})
	var refused *ssaplan.RefusedError
	require.ErrorAs(t, err, &refused)
	require.Equal(t, immutability.RefusalInvalid, refused.Verdict.Refusal)
	require.Equal(t, `data["a b"]`, refused.Verdict.Fields[0].Name())
	require.Contains(t, err.Error(), `data["a b"]: Invalid value`)

	state = c.apply(t, manifest(t, "{apiVersion: v1, kind: Service, metadata: {name: old}, spec: {type: NodePort, ports: [{port: 80, nodePort: 31234}]}}"))
	plan := c.plan(t, ssaplan.Request{
		Manifest: manifest(t, "{apiVersion: v1, kind: Service, metadata: {name: new}, spec: {type: NodePort, ports: [{port: 80, nodePort: 31234}]}}"), Prior: state,
	})
	require.Equal(t, ssaplan.ActionReplace, plan.Action, "the port is free once the old one is gone")
}

// TestRenameOntoAnother renames an object to a name that another one has already, which this manager applied just as it is. No
// dry run wrote that one.
func TestRenameOntoAnother(t *testing.T) {
	c := newCluster(t)
	state := c.apply(t, manifest(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: old}, data: {a: A}}"))
	m := manifest(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: new}, data: {a: A}}")
	c.apply(t, m)
	plan := c.plan(t, ssaplan.Request{Manifest: m, Prior: state})
	require.Equal(t, ssaplan.ActionReplace, plan.Action)
	require.Contains(t, plan.Warnings[0], "there is an object of this name already")
	require.Equal(t, 2, plan.Requests, "reads of both")
}

// TestWhatIsNoChangeOfIdentity has states that say nothing against the object's being the same.
func TestWhatIsNoChangeOfIdentity(t *testing.T) {
	c := newCluster(t)
	m := manifest(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: first}}")
	require.Equal(t, ssaplan.ActionCreate, c.plan(t, ssaplan.Request{Manifest: m, Prior: &explain.State{}}).Action, "the zero state remembers nothing")

	gone := &explain.State{Identity: identity.Identity{APIVersion: "gone.example.com/v1", Kind: "Gone", Namespace: c.Namespace, Name: "a"}, UID: "7"}
	m = manifest(t, "{apiVersion: gone.example.com/v1, kind: Gone, metadata: {name: a}}")
	require.Equal(t, ssaplan.DeferralTypeNotServed, c.plan(t, ssaplan.Request{Manifest: m, Prior: gone}).Deferral, "in the default namespace, as it was")
	gone.Identity.Name = "b"
	require.Equal(t, ssaplan.ActionReplace, c.plan(t, ssaplan.Request{Manifest: m, Prior: gone}).Action)
}

// TestHazardsOfAnotherIdentity renames what others live in.
func TestHazardsOfAnotherIdentity(t *testing.T) {
	c := newCluster(t)
	for _, text := range []string{
		"{apiVersion: v1, kind: Namespace, metadata: {name: new}}",
		"{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: new}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}",
		`{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: news.ex.io}, spec: {group: ex.io, scope: Cluster,
			names: {kind: New, plural: news}, versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]}}`,
	} {
		m := manifest(t, "%s", text)
		kind := m.GetKind()
		prior := &explain.State{Identity: identity.Identity{APIVersion: m.GetAPIVersion(), Kind: kind, Name: "old"}, UID: "7"}
		plan := c.plan(t, ssaplan.Request{Manifest: m, Prior: prior})
		require.Equal(t, ssaplan.ActionReplace, plan.Action)
		require.NotEmpty(t, plan.Replacement.Hazards, kind)
		require.Contains(t, []immutability.HazardKind{immutability.HazardData, immutability.HazardContents}, plan.Replacement.Hazards[0].Kind, kind)
	}
}
