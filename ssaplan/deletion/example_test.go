package deletion_test

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/ssaplan/deletion"
)

func ExampleOf() {
	live := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "batch/v1", "kind": "Job",
		"metadata": map[string]any{"name": "migrate", "namespace": "shop", "uid": "5", "finalizers": []any{"example.com/backup"}},
	}}
	id, _ := identity.Of(live.Object)
	plan := deletion.Of(deletion.Request{Object: id, Propagation: metav1.DeletePropagationOrphan}, live)
	fmt.Println(plan)
	for _, hazard := range plan.Hazards {
		fmt.Println(hazard)
	}
	fmt.Println(plan.Dependents)
	// Output:
	// Delete batch/v1/Job shop/migrate: is there
	// the pods keep running without it
	// the delete waits for finalizers: example.com/backup
	// objects that name this one as their owner remain without an owner
	// [Pod]
}

func ExamplePlan_Covers() {
	live := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "settings", "namespace": "shop", "uid": "5"},
	}}
	id, _ := identity.Of(live.Object)
	reviewed := deletion.Of(deletion.Request{Object: id}, live)
	live.SetFinalizers([]string{"example.com/backup"})
	fmt.Println(reviewed.Covers(deletion.Of(deletion.Request{Object: id}, live)))
	// Output: false
}
