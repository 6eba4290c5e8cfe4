package dynclient_test

import (
	"context"
	"fmt"
	"log"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/dynclient"
	"github.com/ssaplan/primitives/ssaplan/ssaplantest"
)

func ExampleNew() {
	cluster, _ := ssaplantest.NewServer(ssaplantest.Options{})
	client, mapper := cluster.Client(), cluster.Mapper()

	api := dynclient.New(client, mapper, dynclient.Options{})
	planner, err := ssaplan.New(api, ssaplan.Options{FieldManager: "my-tool"})
	if err != nil {
		log.Fatal(err)
	}
	plan, err := planner.Plan(context.Background(), ssaplan.Request{Manifest: &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "web"},
	}}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(plan.Action)
	// Output: Create
}
