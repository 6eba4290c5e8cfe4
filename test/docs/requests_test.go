package docs_test

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ssaplan/primitives/identity/importid"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/client"
	"github.com/ssaplan/primitives/ssaplan/deletion"
	api "github.com/ssaplan/primitives/ssaplan/server"
)

// The requests of each call, without those for all objects together: all of these were sent before.
func Example_requests() {
	configMaps := objects("requests", "", "v1", "configmaps")
	sent := 0
	planner := must(ssaplan.New(must(client.New(config, client.Options{})), ssaplan.Options{
		FieldManager: "my-tool", NoOps: ssaplan.NewNoOpCache(ssaplan.NoOpCacheOptions{ServerInterval: -1}),
		Observe: func(context.Context, api.Observation) { sent++ },
	}))
	count := func(call string) {
		fmt.Printf("%s: %d\n", call, sent)
		sent = 0
	}
	request := func(mode string) ssaplan.Request {
		return ssaplan.Request{Manifest: yamlObject("{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: requests}, data: {mode: " + mode + "}}")}
	}
	first := must(planner.Plan(ctx, request("dark")))
	state := must(first.State(must(planner.Apply(ctx, first))))
	must(planner.PlanDelete(ctx, deletion.Request{Object: state.Identity, UID: state.UID}))
	must(planner.PlanRelease(ctx, state))
	sent = 0

	plan := must(planner.Plan(ctx, request("light")))
	count("Plan")
	withLive := request("light")
	withLive.Live = must(configMaps.Get(ctx, "a", metav1.GetOptions{}))
	must(planner.Plan(ctx, withLive))
	count("Plan with Live")
	must(planner.Apply(ctx, plan))
	count("Apply")
	must(planner.Plan(ctx, request("light")))
	sent = 0
	plan = must(planner.Plan(ctx, request("light")))
	count("Plan of a remembered no-op")
	withLive.Live = must(configMaps.Get(ctx, "a", metav1.GetOptions{}))
	must(planner.Plan(ctx, withLive))
	count("Plan of a remembered no-op with Live")
	must(planner.Apply(ctx, plan))
	count("Apply of a no-op")
	must(planner.Read(ctx, state))
	count("Read")
	must(planner.Import(ctx, must(importid.Parse("requests/v1/ConfigMap/a"))))
	count("Import")
	must(planner.PlanRelease(ctx, state))
	count("PlanRelease")
	doomed := must(planner.PlanDelete(ctx, deletion.Request{Object: state.Identity, UID: state.UID}))
	count("PlanDelete")
	must(0, planner.ApplyDelete(ctx, doomed, deletion.Options{}))
	count("ApplyDelete")
	plan = must(planner.Plan(ctx, request("dark")))
	state = must(plan.State(must(planner.Apply(ctx, plan))))
	sent = 0
	must(0, planner.Delete(ctx, state, deletion.Options{}))
	count("Delete")
	// Output:
	// Plan: 2
	// Plan with Live: 1
	// Apply: 1
	// Plan of a remembered no-op: 1
	// Plan of a remembered no-op with Live: 0
	// Apply of a no-op: 0
	// Read: 1
	// Import: 1
	// PlanRelease: 2
	// PlanDelete: 3
	// ApplyDelete: 5
	// Delete: 5
}
