package deletion_test

import (
	"fmt"
	"log"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/ssaplan/deletion"
)

func Example() {
	live := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": "shop", "uid": "5"},
	}}

	id, err := identity.Of(live.Object)
	if err != nil {
		log.Fatal(err)
	}
	plan := deletion.Of(deletion.Request{Object: id}, live) // Planner.PlanDelete also tries it on the server
	fmt.Println(plan)
	for _, hazard := range plan.Hazards {
		fmt.Println(hazard) // everything inside namespace shop is deleted with it
	}
	// Output:
	// Delete v1/Namespace shop: is there
	// everything inside namespace shop is deleted with it
	// objects that name this one as their owner are deleted with it
}
