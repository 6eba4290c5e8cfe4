// Package write answers: what became of a write?
//
// Answers get lost after a server has done what it was asked for, so a write that failed need not have failed. Every error of
// an apply, a replacement or a delete tells its [Outcome]:
//
//	obj, err := planner.Apply(ctx, plan)
//	switch write.OutcomeOf(err) {
//	case write.OutcomeDone: // obj is the object as it is
//	case write.OutcomeNotSent, write.OutcomeRefused: // nothing was written
//	case write.OutcomeUnknown: // plan again, which tells
//	}
//
// It sends nothing: the Planner of package ssaplan looks at the object before it says that an outcome isn't known.
package write
