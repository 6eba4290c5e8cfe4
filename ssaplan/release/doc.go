// Package release answers: what happens if my field manager stops owning an object? All values stay. A tool releases an
// object instead of deleting it if it took the object over and didn't create it; see explain.State.Adopted. The package
// isn't for Helm releases, nor for single fields: fieldowner.GiveUp and Request.GiveUp of package ssaplan are.
//
//	plan, err := planner.PlanRelease(ctx, state)
//	if err != nil {
//		log.Fatal(err)
//	}
//	fmt.Println(plan) // the fields without an owner after that
//	if err := plan.Apply(ctx); err != nil {
//		log.Fatal(err)
//	}
package release
