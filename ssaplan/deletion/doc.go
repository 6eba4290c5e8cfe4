// Package deletion answers: what happens if I delete this? It isn't for sending the delete: Planner.PlanDelete and
// ApplyDelete of package ssaplan are.
//
// A [Plan] says whether the object can be deleted, what is deleted along with it, what stays behind, and what the
// delete waits for. [Of] makes one from the object alone:
//
//	id, err := identity.Of(live.Object)
//	if err != nil {
//		log.Fatal(err)
//	}
//	plan := deletion.Of(deletion.Request{Object: id}, live) // Planner.PlanDelete also tries it on the server
//	fmt.Println(plan)
//	for _, hazard := range plan.Hazards {
//		fmt.Println(hazard) // everything inside namespace shop is deleted with it
//	}
//
// The Planner also sends the delete as a dry run, and counts the objects of namespaces and CRDs. It doesn't search the
// cluster for dependents: the plan only names their kinds.
package deletion
