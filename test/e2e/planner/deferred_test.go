package planner_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/server"
	"github.com/ssaplan/primitives/test/lab"
)

// What can't be asked yet is deferred, and what the manifest declares is shown all the same.
func TestDeferred(t *testing.T) {
	c := newCluster(t)
	for _, test := range []struct {
		manifest string
		deferral ssaplan.Deferral
		reason   string
		after    string
		requests int
	}{
		{"{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: nowhere}, data: {a: b}}", ssaplan.DeferralNamespaceNotFound,
			`namespace "nowhere"`, `{"data":{"a":"b"}}`, 2},
		{"{apiVersion: v1, kind: Secret, metadata: {name: a, namespace: nowhere}, stringData: {a: b}}", ssaplan.DeferralNamespaceNotFound,
			`namespace "nowhere"`, `{"data":{"a":"<redacted>"}}`, 2},
		{"{apiVersion: example.com/v9, kind: Gadget, metadata: {name: a}, spec: {sizes: [1, 2]}}", ssaplan.DeferralTypeNotServed,
			"example.com/v9 Gadget", `{"spec":{"sizes":"<redacted>"}}`, 0}, // it isn't known what of it is secret
	} {
		plan := c.plan(t, ssaplan.Request{Manifest: manifest(t, "%s", test.manifest)})
		require.Equal(t, ssaplan.ActionDeferred, plan.Action)
		require.Equal(t, test.deferral, plan.Deferral)
		require.Contains(t, plan.Reason, test.reason)
		require.Equal(t, test.requests, plan.Requests)
		require.JSONEq(t, test.after, plan.After.String())
		require.NotEmpty(t, plan.Patch().Body)
	}
}

// A live object that the host supplies may be long gone, with its namespace or its kind.
func TestSuppliedObjectIsGone(t *testing.T) {
	c := newCluster(t)
	m := manifest(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: gone, namespace: gone-%s}, data: {a: b}}", c.Namespace)
	live := m.DeepCopy()
	live.SetUID("5")
	live.SetResourceVersion("7")
	live.SetManagedFields([]metav1.ManagedFieldsEntry{{Manager: manager, Operation: "Apply", APIVersion: "v1", FieldsType: "FieldsV1",
		FieldsV1: &metav1.FieldsV1{Raw: []byte(`{"f:data":{"f:a":{}}}`)}}})
	require.Equal(t, ssaplan.DeferralNamespaceNotFound, c.plan(t, ssaplan.Request{Manifest: m, Live: live}).Deferral)

	definition := lab.Object(t, `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: fleetings.gone.example.com},
		spec: {group: gone.example.com, scope: Namespaced, names: {plural: fleetings, kind: Fleeting},
		versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]}}`)
	c.Define(t, definition)
	m = manifest(t, "{apiVersion: gone.example.com/v1, kind: Fleeting, metadata: {name: a}, spec: {a: b}}")
	c.apply(t, m)
	live = c.Get(t, m)
	c.Delete(t, definition)
	lab.Eventually(t, "the kind is gone", func() bool {
		plan, err := c.planner.Plan(t.Context(), ssaplan.Request{Manifest: m, Live: live})
		return err == nil && plan.Deferral == ssaplan.DeferralTypeNotServed
	})
}

// TestMissingKindIsLookedForOnce plans many objects of a kind that the same set defines.
func TestMissingKindIsLookedForOnce(t *testing.T) {
	c := newCluster(t)
	discoveries := 0
	planner := c.Planner(t, ssaplan.Options{
		FieldManager: manager, Concurrency: 1,
		Observe: func(_ context.Context, o server.Observation) {
			if o.Verb == "discover" {
				discoveries++
			}
		},
	})
	var requests []ssaplan.Request
	for i := range 50 {
		requests = append(requests, ssaplan.Request{Manifest: manifest(t, "{apiVersion: later.example.com/v1, kind: Later, metadata: {name: a%d}}", i)})
	}
	for plan, err := range planner.PlanAll(t.Context(), requests) {
		require.NoError(t, err)
		require.Equal(t, ssaplan.DeferralTypeNotServed, plan.Deferral)
	}
	require.Equal(t, 1, discoveries)
	_, err := planner.Plan(t.Context(), requests[0])
	require.NoError(t, err)
	require.Equal(t, 2, discoveries, "a plan by itself looks again")
}
