package write_test

import (
	"errors"
	"fmt"

	"github.com/ssaplan/primitives/ssaplan/write"
)

func Example() {
	err := error(&write.ApplyError{Outcome: write.OutcomeUnknown, Err: errors.New("connection reset")})

	switch write.OutcomeOf(err) { // the error of Planner.Apply, Replace or Delete
	case write.OutcomeDone:
		fmt.Println("it was written")
	case write.OutcomeNotSent, write.OutcomeRefused:
		fmt.Println("it was not written")
	case write.OutcomeUnknown:
		fmt.Println("plan again to find out")
	}
	// Output:
	// plan again to find out
}
