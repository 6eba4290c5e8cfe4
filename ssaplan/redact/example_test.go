package redact_test

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/projection/foreign"
	"github.com/ssaplan/primitives/ssaplan/redact"
)

func ExampleRedactor() {
	database := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.com/v1", "kind": "Database",
		"metadata": map[string]any{"name": "orders"},
		"spec":     map[string]any{"size": "small", "password": "hunter2"},
	}}
	sensitive, err := projection.ParsePatterns("spec.password")
	if err != nil {
		panic(err)
	}
	marks := func(schema.GroupVersionKind) projection.Patterns { return nil } // the schema marks no passwords

	redactor := redact.For(sensitive, marks, database)
	fmt.Println(redactor.Text(foreign.Text(`a webhook says that "hunter2" is too short`)))
	fmt.Println(redactor.Object(database)["spec"])
	// Output:
	// the message is redacted, since the object has sensitive values
	// map[password:<redacted> size:small]
}
