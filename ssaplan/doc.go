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

// The other files of this package:
//   - what a caller uses: planner.go (Planner), options.go, request.go, plan.go, json.go, state.go, noopcache.go
//   - Plan, step by step: planning.go (all steps), goal.go and prepare.go (the request, checked), identity.go, read.go,
//     recall.go (plans from the cache), trial.go and ask.go (the dry run), patterns.go (warnings about fields to give
//     up or to clear), explained.go, refusal.go (rejected requests), lostversions.go (objects that the server can't
//     read), replacement.go, finish.go
//   - other plans: planall.go (many objects), import.go
//   - Apply: apply.go, send.go, replace.go, delete.go
//   - whether Apply does what was reviewed: compared.go (the parts of a plan that count), reviewed.go, changederror.go
