package docs_test

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"

	"github.com/ssaplan/primitives/ssaplan"
)

func deploy(ctx context.Context, config *rest.Config, manifest *unstructured.Unstructured) error {
	planner, err := ssaplan.New(config, ssaplan.Options{FieldManager: "my-tool"})
	if err != nil {
		return err
	}
	plan, err := planner.Plan(ctx, ssaplan.Request{Manifest: manifest})
	if err != nil {
		return err
	}
	fmt.Println(plan.Action, plan.Reason)
	for _, change := range plan.Changes {
		fmt.Println(change)
	}
	_, err = planner.Apply(ctx, plan) // sends exactly what was reviewed, or says what changed since
	return err
}

func Example_readme() {
	deployments := objects("readme", "apps", "v1", "deployments")
	web := deployment("web", "web:1")
	web.SetNamespace("readme")
	apply(deployments, "my-tool", web)
	patch(deployments, "kubectl", "web", `{"spec": {"replicas": 7}}`, "scale")
	if err := deploy(ctx, config, web); err != nil {
		fmt.Println(err)
	}
	// Output:
	// Update 1 drifted
	// spec.replicas: 7 -> 3 (drifted: changed by "kubectl" (Update of scale))
}
