package set_test

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/set"
	"github.com/ssaplan/primitives/ssaplan/ssaplantest"
)

func object(apiVersion, kind, namespace, name string) *unstructured.Unstructured {
	metadata := map[string]any{"name": name}
	if namespace != "" {
		metadata["namespace"] = namespace
	}
	return &unstructured.Unstructured{Object: map[string]any{"apiVersion": apiVersion, "kind": kind, "metadata": metadata}}
}

// shop returns an application whose objects come in an order in which they can't be applied.
func shop() []ssaplan.Request {
	return []ssaplan.Request{
		{Manifest: object("v1", "Service", "shop", "web")},
		{Manifest: object("v1", "ConfigMap", "shop", "web")},
		{Manifest: object("v1", "Namespace", "", "shop")},
	}
}

func newPlanner() *ssaplan.Planner {
	server, _ := ssaplantest.NewServer(ssaplantest.Options{})
	planner, _ := ssaplan.New(server.API(), ssaplan.Options{FieldManager: "my-tool"})
	return planner
}

// An application is shown as what it is, and applied in one run.
func Example() {
	ctx := context.Background()
	application := set.New(newPlanner(), shop(), set.Options{})
	for item := range application.Plan(ctx) {
		fmt.Println(application.Stages()[item.Stage], "|", item.Object.Kind, item.Plan.Action, item.After)
	}
	for result := range application.Apply(ctx) {
		fmt.Println(result.Item.Object.Kind, result.Outcome)
	}
	// Output:
	// namespaces and CRDs | Namespace Create []
	// RBAC and configuration | ConfigMap Deferred [v1/Namespace shop]
	// services and workloads | Service Deferred [v1/Namespace shop]
	// Namespace Done
	// ConfigMap Done
	// Service Done
}

// What neither the server nor the set has is a typo as a rule.
func ExampleMissingError() {
	requests := append(shop(), ssaplan.Request{Manifest: object("v1", "Secret", "shpo", "web")})
	for item := range set.New(newPlanner(), requests, set.Options{}).Plan(context.Background()) {
		if item.Err != nil {
			fmt.Println(item.Err)
		}
	}
	// Output:
	// v1/Secret shpo/web: neither the server nor the set has a namespace "shpo"; did you mean shop?
}

// A removal deletes the applied objects in reverse order, and no other objects. Here another client re-created the
// Service, so the removal keeps it.
func ExampleRemoval() {
	ctx := context.Background()
	planner := newPlanner()
	var members []set.Member
	for result := range set.New(planner, shop(), set.Options{}).Apply(ctx) {
		members = append(members, set.Member{Object: result.Item.Object, UID: string(result.Made.GetUID())})
	}
	members[2].UID = "of-another-one"

	removal := set.NewRemoval(planner, members, set.RemovalOptions{Contents: true})
	for item := range removal.Plan(ctx) {
		fmt.Println(item.Member.Object.Kind, item.Deletes())
	}
	for result := range removal.Apply(ctx) {
		fmt.Println(result.Item.Member.Object.Kind, result.Outcome)
	}
	// Output:
	// Service false
	// ConfigMap true
	// Namespace true
	// Service NotSent
	// ConfigMap Done
	// Namespace Done
}

// A host knows what it means for an object to be ready.
func ExampleSet_Await() {
	ctx := context.Background()
	application := set.New(newPlanner(), shop(), set.Options{})
	for range application.Apply(ctx) {
	}
	ready := func(live *unstructured.Unstructured) set.Readiness {
		if live.GetKind() == "Service" {
			return set.Readiness{Why: "nobody answers"}
		}
		return set.Readiness{Ready: true}
	}
	for readied := range application.Await(ctx, ready, 100*time.Millisecond) {
		fmt.Printf("%s %v %q\n", readied.Item.Object.Kind, readied.Ready, readied.Why)
	}
	// Output:
	// ConfigMap true ""
	// Namespace true ""
	// Service false "nobody answers"
}
