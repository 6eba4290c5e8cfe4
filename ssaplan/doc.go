// Package ssaplan answers: what will happen if I apply this?
//
// A [Planner] reads the live object, lets the API server try the apply (a dry run), and reports the difference in
// terms of the fields that the manifest declares. It predicts nothing by itself:
//
//	planner, err := ssaplan.New(config, ssaplan.Options{FieldManager: "my-tool"})
//	plan, err := planner.Plan(ctx, ssaplan.Request{Manifest: manifest})
//	fmt.Println(plan.Action, plan.Reason) // Update 1 drifted
//	for _, c := range plan.Changes {
//		fmt.Println(c) // spec.replicas: 5 -> 3 (drifted: changed by "kubectl" (Update of scale))
//	}
//	result, err := planner.Apply(ctx, plan)
//
// The Planner is thin: what a path, a difference, an identity, an owner or a refusal is stands in the packages
// projection, identity, fieldowner, immutability and authresilience, which can be used without it. It leaves no
// goroutine behind and keeps no global state. It asks again only where an object changed in between (see [Planner.Plan]
// and [Planner.Apply]), and where [Options.ThrottleRetries] allows it.
package ssaplan
