package fieldowner_test

import (
	"fmt"
	"log"

	"github.com/ssaplan/primitives/fieldowner"
)

// entry returns an entry of managedFields for spec.replicas.
func entry(manager, operation, subresource string) any {
	return map[string]any{
		"manager": manager, "operation": operation, "subresource": subresource, "apiVersion": "apps/v1", "fieldsType": "FieldsV1",
		"fieldsV1": map[string]any{"f:spec": map[string]any{"f:replicas": map[string]any{}}},
	}
}

func Example() {
	live := map[string]any{"metadata": map[string]any{"managedFields": []any{entry("hpa", "Update", "scale")}}}
	answer := map[string]any{"metadata": map[string]any{"managedFields": []any{entry("my-tool", "Apply", "")}}}

	before, err := fieldowner.Read(live)
	if err != nil {
		log.Fatal(err)
	}
	after, err := fieldowner.Read(answer) // the answer to a dry run
	if err != nil {
		log.Fatal(err)
	}
	for _, transfer := range fieldowner.Compare(before, after, fieldowner.Applier{Manager: "my-tool"}) {
		fmt.Println(transfer) // spec.replicas: taken from "hpa" (Update of scale)
	}
	// Output:
	// spec.replicas: taken from "hpa" (Update of scale)
}
