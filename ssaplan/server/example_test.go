package server_test

import (
	"context"
	"fmt"
	"log"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/server"
	"github.com/ssaplan/primitives/ssaplan/ssaplantest"
)

func ExampleServer() {
	ctx := context.Background()
	cluster, _ := ssaplantest.NewServer(ssaplantest.Options{})
	api := cluster.API()
	planner, _ := ssaplan.New(api, ssaplan.Options{FieldManager: "my-tool"})
	plan, _ := planner.Plan(ctx, ssaplan.Request{Manifest: &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apps/v1", "kind": "Deployment", "metadata": map[string]any{"name": "web"},
	}}})
	_, _ = planner.Apply(ctx, plan)

	kind, err := api.Resolve(ctx, schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"})
	if err != nil {
		log.Fatal(err)
	}
	answer, err := api.Get(ctx, server.Ref{Kind: kind, Namespace: "default", Name: "web"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(kind.Resource, answer.Object.GetName())
	_, err = api.Resolve(ctx, schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Gadget"})
	fmt.Println("not served:", meta.IsNoMatchError(err))
	_, canDiscover := api.(server.Discoverer)
	fmt.Println("lists all kinds:", canDiscover)
	// Output:
	// deployments web
	// not served: true
	// lists all kinds: false
}
