package planner_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/immutability"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/test/lab"
)

// A plan to replace a Job marks the values that the server generates for each object as assigned. The name of the
// object that the dry run created doesn't appear in the result.
func TestReplacementsOfGeneratedValues(t *testing.T) {
	c := newCluster(t)
	const job = `{apiVersion: batch/v1, kind: Job, metadata: {name: again}, spec: {suspend: true, template: {spec: {restartPolicy: Never, containers: [{name: a, image: "a:%d"}]}}}}`
	c.apply(t, manifest(t, job, 1))
	plan := c.plan(t, ssaplan.Request{Manifest: manifest(t, job, 2)})
	require.Equal(t, ssaplan.ActionReplace, plan.Action)
	require.Empty(t, plan.Warnings)
	for _, change := range plan.Changes {
		isGenerated := strings.Contains(change.Path.String(), "controller-uid")
		require.Equal(t, isGenerated, change.Assigned, "%s", change)
	}
	require.Contains(t, fmt.Sprint(plan.Changes), `containers[name="a"].image: "a:1" -> "a:2" (can't change in place)`)
	require.Equal(t, "again", plan.Result().GetName())
	require.NotContains(t, fmt.Sprint(plan.Result().Object), "again-")
}

// The server may have the same object under another version of its group; replacing it would destroy it for nothing.
func TestAnotherVersionCanBeInPlace(t *testing.T) {
	c := newCluster(t)
	const v1 = `{apiVersion: autoscaling/v1, kind: HorizontalPodAutoscaler, metadata: {name: bumped},
		spec: {scaleTargetRef: {kind: Deployment, name: web, apiVersion: apps/v1}, maxReplicas: 3}}`
	v2 := strings.Replace(v1, "autoscaling/v1", "autoscaling/v2", 1)
	state := c.apply(t, manifest(t, "%s", v1))

	request := ssaplan.Request{Manifest: manifest(t, "%s", v2), Prior: state}
	plan := c.plan(t, request)
	require.Equal(t, ssaplan.ActionReplace, plan.Action)
	require.Contains(t, plan.Reason, "AllowVersionChange")
	require.Equal(t, immutability.HazardNeedless, plan.Replacement.Hazards[0].Kind)
	require.Empty(t, plan.Changes, "the same object under another version is the same")

	request.AllowVersionChange = true
	plan = c.plan(t, request)
	require.Equal(t, ssaplan.ActionUpdate, plan.Action)
	updated, err := c.planner.Apply(lab.Context(t), plan)
	require.NoError(t, err)
	require.Equal(t, state.UID, string(updated.GetUID()))

	const two = `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: bumps.bump.ex.io}, spec: {group: bump.ex.io,
		scope: Namespaced, names: {plural: bumps, singular: bump, kind: Bump, listKind: BumpList}, versions: [
		{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}},
		{name: v2, served: true, storage: false, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]}}`
	c.Define(t, manifest(t, two))
	const custom = `{apiVersion: bump.ex.io/%s, kind: Bump, metadata: {name: a}, spec: {size: %d}}`
	state = c.apply(t, manifest(t, custom, "v1", 1))
	request = ssaplan.Request{Manifest: manifest(t, custom, "v2", 2), Prior: state}
	plan = c.plan(t, request)
	require.Equal(t, ssaplan.ActionReplace, plan.Action)
	require.Equal(t, immutability.HazardNeedless, plan.Replacement.Hazards[0].Kind)
	require.Equal(t, []string{"change spec.size Edited"}, causes(plan))
	request.AllowVersionChange = true
	plan = c.plan(t, request)
	require.Equal(t, []string{"change spec.size Edited"}, causes(plan))
	updated, err = c.planner.Apply(lab.Context(t), plan)
	require.NoError(t, err)
	require.Equal(t, state.UID, string(updated.GetUID()))
}
