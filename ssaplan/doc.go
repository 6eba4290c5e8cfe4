// Package ssaplan answers: what happens if I apply this? It isn't for many objects that depend on each other: package
// ssaplan/set is.
//
// A [Planner] reads the live object and sends the apply as a dry run. The plan has the differences between the two
// objects in the declared fields:
//
//	plan, err := planner.Plan(ctx, ssaplan.Request{Manifest: manifest, Prior: state})
//	if err != nil {
//		log.Fatal(err)
//	}
//	fmt.Println(plan.Action, plan.Reason) // Update 1 drifted
//	for _, change := range plan.Changes {
//		fmt.Println(change) // data.mode: "light" -> "dark" (drifted: changed by "kubectl" (Update))
//	}
//	if _, err = planner.Apply(ctx, plan); err != nil { // sends exactly this plan
//		log.Fatal(err)
//	}
//
// A Planner is safe for concurrent use, leaves no goroutine behind and has no global state. It retries requests in two
// cases only: if the object changed in between (see [Planner.Plan] and [Planner.Apply]), or if the server throttled
// them (see [Options.ThrottleRetries]).
package ssaplan
