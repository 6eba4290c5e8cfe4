package projection_test

import (
	"fmt"
	"log"

	"github.com/ssaplan/primitives/projection"
)

// The fields that an entry of managedFields names, in two objects, and how these differ there.
func Example() {
	entry := map[string]any{"fieldsV1": map[string]any{"f:spec": map[string]any{"f:replicas": map[string]any{}}}}
	live := map[string]any{"spec": map[string]any{"replicas": int64(3), "paused": true}}
	answer := map[string]any{"spec": map[string]any{"replicas": int64(5), "paused": false}}

	fields, err := projection.DecodeFieldsV1(entry["fieldsV1"]) // an entry of metadata.managedFields
	if err != nil {
		log.Fatal(err)
	}
	before, after := projection.Project(live, fields), projection.Project(answer, fields)
	for _, difference := range projection.Diff(before, after) {
		fmt.Println(difference) // spec.replicas: 3 -> 5
	}
	// Output:
	// spec.replicas: 3 -> 5
}
