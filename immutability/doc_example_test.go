package immutability_test

import (
	"fmt"

	"github.com/ssaplan/primitives/immutability"
)

func Example() {
	err := fmt.Errorf("apply: %w", invalidError("apps", "Deployment", "web", "spec.selector", "…", "field is immutable"))

	verdict := immutability.Classify(err) // the error of a rejected apply
	switch {
	case verdict.Refusal == immutability.RefusalNone:
		fmt.Println("not about the content of the object")
	case verdict.Replaceable():
		fmt.Println("replace it:", verdict.Fields[0])
	default:
		fmt.Println("don't replace it:", verdict.Refusal)
	}
	// Output:
	// replace it: spec.selector: Invalid value: field is immutable
}
