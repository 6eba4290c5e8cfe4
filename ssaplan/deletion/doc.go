// Package deletion answers: what will happen if I delete this?
//
// A [Plan] says whether the object can be deleted, what goes with it, what stays behind, and what the delete waits for. The
// Planner of package ssaplan makes one that the server has tried:
//
//	plan, err := planner.PlanDelete(ctx, ssaplan.DeleteRequest{Object: id})
//	fmt.Println(plan) // Delete v1/Namespace shop: the server would delete it
//	for _, hazard := range plan.Hazards {
//		fmt.Println(hazard) // everything inside namespace shop is deleted with it
//	}
//	err = planner.ApplyDelete(ctx, plan, ssaplan.DeleteOptions{})
//
// What an object tells by itself is known by [Of], a pure function for hosts with a client of their own. It searches no
// cluster for dependents, and says which kinds they are of.
package deletion
