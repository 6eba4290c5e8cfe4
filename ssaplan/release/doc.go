// Package release answers: what happens if my field manager stops owning an object? All values stay. A tool does that
// instead of a delete for an object that it took over and didn't create; see [explain.State.Adopted]. It isn't for
// Helm releases, nor for single fields: [fieldowner.GiveUp] and Request.GiveUp of package ssaplan are.
//
//	plan, err := planner.PlanRelease(ctx, state)
//	if err != nil {
//		log.Fatal(err)
//	}
//	fmt.Println(plan) // the fields that nobody owns after that
//	if err := plan.Apply(ctx); err != nil {
//		log.Fatal(err)
//	}
package release
