package authresilience_test

import (
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/ssaplan/primitives/authresilience"
)

func Example() {
	state := "what the last run knew"
	err := error(apierrors.NewUnauthorized("token expired"))

	attempt := authresilience.ReadAttempt{Object: "v1/ConfigMap default/web"}
	kept, ok := authresilience.Degrade(state, err, attempt) // the error of a failed read
	if !ok {
		fmt.Println(authresilience.Classify(err), authresilience.Redact(err))
		return
	}
	fmt.Println(kept.Warning.Summary()) // v1/ConfigMap default/web was not refreshed; its last known state is kept
	fmt.Println(kept.Prior)             // store it with kept.Stale
	// Output:
	// v1/ConfigMap default/web was not refreshed; its last known state is kept
	// what the last run knew
}
