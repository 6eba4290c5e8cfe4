// Package set answers: what happens if I apply all of this, and in which order does it work? It isn't for a single
// object: the Planner of package ssaplan is.
//
// The objects of an application need each other: a namespace before its objects, a CRD before its custom resources, a
// Deployment before the webhook that it serves. A [Set] plans and applies them in stages:
//
//	application := set.New(newPlanner(), shop(), set.Options{})
//	for item := range application.Plan(ctx) {
//		fmt.Println(application.Stages()[item.Stage], "|", item.Object.Kind, item.Plan.Action, item.After)
//	}
//	for result := range application.Apply(ctx) {
//		fmt.Println(result.Item.Object.Kind, result.Outcome)
//	}
//
// Apply does what Plan showed. Each stage is planned again after the stages before it are applied. If an object would
// change in another way than was shown, it isn't written, and no later stage begins. Its error is a [ChangedError] with
// both plans, or a [ssaplan.ChangedError] with the new plan if the object changed after its stage was planned. An
// object that can't be planned yet is shown with the fields in its manifest, and Item.After names the objects that it
// waits for.
//
// Nothing runs in the background, and no goroutine outlives an iteration. To save memory, a [Set] keeps no plan of an
// unchanged object.
package set

// The other files of this package:
//   - what a set is: set.go (Set, Options, Item), planner.go
//   - the order of its objects: stages.go, contents.go (objects that others may need), references.go (which objects
//     refer to each other), foundation.go (CRDs and namespaces)
//   - Plan: plan.go, leftout.go (objects that are skipped)
//   - objects that the server can't check yet: refusal.go (rejected objects, and which object of the set they wait
//     for), predict.go (their plans until then), missing.go (missing kinds, versions and namespaces), missingerror.go
//     (MissingError)
//   - Apply: apply.go, changed.go (whether a plan does only what was shown), readiness.go and await.go (the wait until
//     objects are ready)
//   - Removal: removal.go (members that left the set), users.go (objects that still refer to a member)
