package ssaplan_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/immutability"
	"github.com/ssaplan/primitives/projection/foreign"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/explain"
	"github.com/ssaplan/primitives/ssaplan/ssaplantest"
)

// A replacement by another identity shows the old object as far as it is the one that is remembered, and the new one as
// the server would create it: under its own name, or under another if the old object has that.
func TestReplacementsByAnotherIdentity(t *testing.T) {
	for _, row := range []struct {
		why      string
		manifest *unstructured.Unstructured
		edit     func(*testing.T, *ssaplantest.Server, *explain.State)
		tried    bool // under the manifest's name
		old      bool // is shown
	}{
		{why: "another name", manifest: autoscaler("v2", "b"), tried: true, old: true},
		{why: "another version", manifest: autoscaler("v1", "a"), tried: false, old: true},
		{
			why: "another name, and the old object is gone", manifest: autoscaler("v2", "b"), tried: true,
			edit: func(t *testing.T, server *ssaplantest.Server, _ *explain.State) {
				autoscalers := server.Client().Resource(schema.GroupVersionResource{
					Group: "autoscaling", Version: "v2", Resource: "horizontalpodautoscalers",
				}).Namespace("default")
				free := []byte(`{"metadata": {"finalizers": null}}`)
				errorless(autoscalers.Patch(t.Context(), "a", types.MergePatchType, free, metav1.PatchOptions{}))
				require.NoError(t, autoscalers.Delete(t.Context(), "a", metav1.DeleteOptions{}))
			},
		},
		{
			why: "another name, and another object has the old one", manifest: autoscaler("v2", "b"), tried: true,
			edit: func(_ *testing.T, _ *ssaplantest.Server, s *explain.State) { s.UID = "another" },
		},
		{
			why: "another name, and the old object can't be read", manifest: autoscaler("v2", "b"), tried: true,
			edit: func(_ *testing.T, server *ssaplantest.Server, _ *explain.State) {
				server.AnswerNext("get", apierrors.NewServiceUnavailable("starting"))
			},
		},
	} {
		t.Run(row.why, func(t *testing.T) {
			server, planner := world(ssaplan.Options{})
			first := autoscaler("v2", "a")
			first.SetFinalizers([]string{"ex.io/keep"})
			state := applied(t, planner, first)
			if row.edit != nil {
				row.edit(t, server, state)
			}
			before := len(server.Requests())
			plan := mustPlan(t, planner, ssaplan.Request{Manifest: row.manifest, Prior: state})
			require.Equal(t, ssaplan.ActionReplace, plan.Action)
			require.Empty(t, plan.Warnings, "the new object was tried")
			require.Equal(t, row.manifest.GetName(), plan.Result().GetName())
			requests := server.Requests()[before:]
			require.Equal(t, plan.Requests, len(requests))
			require.Equal(t, row.tried, slices.ContainsFunc(requests, func(r ssaplantest.Request) bool {
				return r.DryRun && r.Name == row.manifest.GetName()
			}))
			require.Equal(t, row.old, plan.Live() != nil)
			require.Equal(t, row.old, plan.Before.Object != nil)
			require.Equal(t, row.old, slices.ContainsFunc(plan.Changes, func(c explain.Change) bool { return c.Before != nil }))
			if row.old && row.manifest.GetName() == "b" {
				require.Equal(t, "a", plan.Live().GetName())
				require.Contains(t, fmt.Sprint(plan.Changes), `metadata.name: "a" -> "b" (can't change in place)`)
			}
			if row.old {
				require.Contains(t, fmt.Sprint(plan.Replacement.Hazards), "waits for finalizers: ex.io/keep")
			}
		})
	}
}

// If the plan can't show the old object, it lists the hazards that every object of that kind has.
func TestReplacementsOfWhatCantBeShown(t *testing.T) {
	_, planner := world(ssaplan.Options{})
	prior := &explain.State{
		Identity: identity.Identity{APIVersion: "v1", Kind: "PersistentVolumeClaim", Namespace: "default", Name: "a"}, UID: "1",
	}
	claim := manifestOf("v1", "PersistentVolumeClaim", "default", "b")
	claim.Object["spec"] = map[string]any{"accessModes": []any{"ReadWriteOnce"}}
	plan := mustPlan(t, planner, ssaplan.Request{Manifest: claim, Prior: prior})
	require.Equal(t, ssaplan.ActionReplace, plan.Action)
	require.Nil(t, plan.Live())
	require.NotEmpty(t, plan.Replacement.Hazards)
	require.Equal(t, immutability.HazardData, plan.Replacement.Hazards[0].Kind)
}

// The read of the old object counts even if the server doesn't serve the new kind.
func TestReplacementsByAKindThatIsNotServed(t *testing.T) {
	server, planner := world(ssaplan.Options{})
	state := applied(t, planner, autoscaler("v2", "a"))
	before := len(server.Requests())
	plan := mustPlan(t, planner, ssaplan.Request{Manifest: manifestOf("ex.io/v1", "Widget", "default", "a"), Prior: state})
	require.Equal(t, ssaplan.ActionReplace, plan.Action)
	require.NotNil(t, plan.Live())
	require.Len(t, server.Requests()[before:], 1)
	require.Equal(t, 1, plan.Requests)
}

// If an object with the new name exists, a dry run would update that object and not create one. So the plan has no
// result, and warns that the fields of the new object are unknown. The creator of the existing object and the object in
// Request.Live make no difference.
func TestReplacementsByATakenName(t *testing.T) {
	for _, row := range []struct {
		why    string
		live   func(*unstructured.Unstructured) // edits the one that is there before it is supplied; nil if it isn't
		others bool                             // another manager created it, so the dry run differs
	}{
		{why: "it was supplied", live: func(*unstructured.Unstructured) {}},
		{why: "it wasn't"},
		{why: "it wasn't, and is somebody else's", others: true},
		{why: "an old version was", live: func(obj *unstructured.Unstructured) { obj.SetResourceVersion("1") }},
		{why: "another one was", live: func(obj *unstructured.Unstructured) { obj.SetUID("another") }},
	} {
		t.Run(row.why, func(t *testing.T) {
			server, planner := world(ssaplan.Options{})
			after := configMap("after", map[string]any{"a": "A"})
			state := applied(t, planner, configMap("before", map[string]any{"a": "A"}))
			if row.others {
				create(server, after.DeepCopy())
			} else {
				applied(t, planner, after)
			}
			request := ssaplan.Request{Manifest: after, Prior: state}
			if row.live != nil {
				request.Live = errorless(resources(server, "configmaps").Get(t.Context(), "after", metav1.GetOptions{}))
				row.live(request.Live)
			}
			plan := mustPlan(t, planner, request)
			require.Equal(t, ssaplan.ActionReplace, plan.Action)
			require.Nil(t, plan.Result(), "what the server would create isn't known")
			require.Equal(t, []foreign.Text{
				"unknown which fields the server adds to the new object: there is an object of this name already",
			}, plan.Warnings)
		})
	}
}
