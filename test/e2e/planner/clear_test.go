package planner_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/test/lab"
)

// A clearing that is interrupted at any of its requests is finished by the next plan.
func TestClearInterrupted(t *testing.T) {
	c := newCluster(t)
	text := func(spec, name string) *unstructured.Unstructured {
		m := lab.Object(t, deploymentOf(spec, "image: a", ""))
		m.SetName(name)
		m.SetNamespace(c.Namespace)
		return m
	}
	between, done := 0, false
	for n := 1; !done; n++ {
		name := fmt.Sprintf("clear-interrupted-%d", n)
		m := text("strategy: {type: Recreate}", name)
		c.apply(t, text("", name))
		plan := c.plan(t, ssaplan.Request{Manifest: m, ClearBlocking: true})
		ctx, cancel := context.WithCancel(t.Context())
		_, err := c.interruptedPlanner(t, n, cancel).Apply(ctx, plan)
		cancel()
		done = err == nil
		request := ssaplan.Request{Manifest: m, ClearBlocking: true}
		if owners, failed := fieldowner.Read(c.Get(t, m).Object); failed == nil && err != nil &&
			slices.ContainsFunc(owners.Of(pathOf(t, "spec.strategy.rollingUpdate")), fieldowner.Applier{Manager: manager}.Is) {
			between++
			request.ClearBlocking = false // the field is dropped now
		}
		plan = c.plan(t, request)
		after, err := c.planner.Apply(lab.Context(t), plan)
		require.NoError(t, err)
		_, there := projection.Get(after.Object, pathOf(t, "spec.strategy.rollingUpdate"))
		require.False(t, there)
		require.Equal(t, ssaplan.ActionNoOp, c.plan(t, request).Action)
	}
	require.NotZero(t, between, "the writes were never interrupted between them")
}
