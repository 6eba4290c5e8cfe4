// Package write answers: did a write happen? An answer can get lost after the server has done its work, so a write
// that failed may have happened. The package isn't for writing: the Planner of package ssaplan is.
//
// Every error of an apply, a replacement or a delete has an [Outcome]:
//
//	switch write.OutcomeOf(err) { // the error of Planner.Apply, Replace or Delete
//	case write.OutcomeDone:
//		fmt.Println("it was written")
//	case write.OutcomeNotSent, write.OutcomeRefused:
//		fmt.Println("it was not written")
//	case write.OutcomeUnknown:
//		fmt.Println("plan again to find out")
//	}
//
// The Planner looks at the object before it says that an outcome is unknown.
package write
