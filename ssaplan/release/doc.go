// Package release answers what it means to let go of an object: a field manager stops owning anything of it, and all values stay. It is
// what a host does instead of a delete, for an object that it took over and didn't make; see [explain.State.Adopted].
//
//	plan, err := planner.PlanRelease(ctx, state)
//	fmt.Println(plan)         // what nobody owns then, and what others own
//	err = plan.Apply(ctx)
//
// It doesn't stop managing single fields: that is what [fieldowner.GiveUp] and a request that gives fields up are for.
package release
