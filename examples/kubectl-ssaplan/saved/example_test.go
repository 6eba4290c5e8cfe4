package saved_test

import (
	"fmt"

	"github.com/ssaplan/primitives/examples/kubectl-ssaplan/saved"
)

func ExampleParse() {
	err, _ := saved.Parse([]byte(`Deployment.apps "web" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0`))
	verdict := err.Verdict()
	fmt.Println(verdict.Refusal, verdict.Replaceable(), verdict.Fields)
	fmt.Println(verdict.Uncertain)
	// Output:
	// Invalid false [spec.replicas: Invalid value: must be greater than or equal to 0]
	// read from an error text, which marks neither causes nor types
}
