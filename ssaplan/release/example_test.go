package release_test

import (
	"context"
	"fmt"
	"log"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/ssaplantest"
)

func Example() {
	ctx := context.Background()
	server, _ := ssaplantest.NewServer(ssaplantest.Options{})
	planner, _ := ssaplan.New(server.API(), ssaplan.Options{FieldManager: "my-tool"})
	manifest := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "settings"}, "data": map[string]any{"mode": "dark"},
	}}
	applied, _ := planner.Plan(ctx, ssaplan.Request{Manifest: manifest})
	object, _ := planner.Apply(ctx, applied)
	state, _ := applied.State(object)

	plan, err := planner.PlanRelease(ctx, state)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(plan) // the fields without an owner after that
	if err := plan.Apply(ctx); err != nil {
		log.Fatal(err)
	}
	// Output:
	// Release v1/ConfigMap default/settings: stays as it is, and these fields are given up
	//   data.mode: given up
}
