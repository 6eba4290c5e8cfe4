package review_test

import (
	"context"
	"fmt"
	"log"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/review"
	"github.com/ssaplan/primitives/ssaplan/ssaplantest"
)

// exampleWorld returns a planner, a request, and a function that changes the object as another field manager.
func exampleWorld() (planner *ssaplan.Planner, request ssaplan.Request, change func()) {
	ctx := context.Background()
	server, _ := ssaplantest.NewServer(ssaplantest.Options{})
	planner, _ = ssaplan.New(server.API(), ssaplan.Options{FieldManager: "my-tool"})
	request.Manifest = &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "settings"}, "data": map[string]any{"mode": "dark"},
	}}
	first, _ := planner.Plan(ctx, request)
	_, _ = planner.Apply(ctx, first)
	return planner, request, func() {
		configMaps := server.Client().Resource(schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}).Namespace("default")
		_, _ = configMaps.Patch(ctx, "settings", types.MergePatchType, []byte(`{"data": {"mode": "light"}}`), metav1.PatchOptions{FieldManager: "kubectl"})
	}
}

// A plan is carried out in another process only if it still is the reviewed one.
func Example() {
	ctx := context.Background()
	planner, request, change := exampleWorld()
	plan, err := planner.Plan(ctx, request)
	if err != nil {
		log.Fatal(err)
	}
	reviewed, err := review.Fingerprint(plan) // the tool stores it
	if err != nil {
		log.Fatal(err)
	}

	change() // another manager changes the object after the review
	again, err := planner.Plan(ctx, request)
	if err != nil {
		log.Fatal(err)
	}
	now, err := review.Fingerprint(again)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("the reviewed plan:", now == reviewed)
	fmt.Println(again)
	// Output:
	// the reviewed plan: false
	// Update v1/ConfigMap default/settings: 1 edited
}

// Remarks say what values don't show: causes, and fields whose owners change.
func ExampleRemarks() {
	planner, request, change := exampleWorld()
	change()
	plan, err := planner.Plan(context.Background(), request)
	if err != nil {
		log.Fatal(err)
	}
	heading, text := review.Fold(review.Remarks(plan, nil))
	fmt.Println(heading)
	fmt.Println(text)
	// Output:
	// v1/ConfigMap default/settings: fields change owners
	// data.mode: taken from "kubectl" (Update)
}
