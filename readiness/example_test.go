package readiness_test

import (
	"fmt"
	"log"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/readiness"
)

func Example() {
	job := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "batch/v1", "kind": "Job", "metadata": map[string]any{"name": "migrate"},
		"status": map[string]any{"startTime": "2026-01-01T00:00:00Z"},
	}}

	conditions, err := readiness.ParseConditions([]string{"Certificate.cert-manager.io=Issued"}) // for custom resources
	if err != nil {
		log.Fatal(err)
	}
	ready := readiness.Of(conditions) // for set.Set.Await and set.AwaitObject
	fmt.Println(ready(job).Ready, ready(job).Why)
	// Output:
	// false it hasn't ended
}
