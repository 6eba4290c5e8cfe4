// Package set answers: what will happen if I apply all of this, and in which order does it work?
//
// An application is a set of objects that need each other: a namespace before what is in it, a definition before its custom
// resources, a Deployment before the webhook that it serves. A [Set] plans and applies them in stages, on top of a Planner:
//
//	application := set.New(planner, requests, set.Options{})
//	for item := range application.Plan(ctx) {
//		fmt.Println(item.Stage, item.Object, item.Plan, item.Err)
//	}
//	for result := range application.Apply(ctx) {
//		fmt.Println(result.Item.Object, result.Outcome, result.Err)
//	}
//
// What Apply does is what Plan showed. Each stage is planned again when those before it are there, and an object of which
// something else would become isn't touched: its error is a [ChangedError] with both plans, and no later stage begins. Of what
// can't be asked yet, Plan shows what is declared and after which objects of the set it comes ([Item.After]).
//
// Nothing goes on in the background, and no goroutine outlives an iteration. What is kept of a plan that changes nothing is
// that it does.
package set
