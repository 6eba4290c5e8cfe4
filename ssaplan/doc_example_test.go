package ssaplan_test

import (
	"context"
	"fmt"
	"log"

	"github.com/ssaplan/primitives/ssaplan"
)

func Example() {
	ctx := context.Background()
	server, planner := world(ssaplan.Options{})
	manifest := configMap("settings", map[string]any{"mode": "dark"})
	first, _ := planner.Plan(ctx, ssaplan.Request{Manifest: manifest})
	object, _ := planner.Apply(ctx, first)
	state, _ := first.State(object)
	patch(server, "settings", `{"data": {"mode": "light"}}`)

	plan, err := planner.Plan(ctx, ssaplan.Request{Manifest: manifest, Prior: state})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(plan.Action, plan.Reason) // Update 1 drifted
	for _, change := range plan.Changes {
		fmt.Println(change) // data.mode: "light" -> "dark" (drifted: changed by "kubectl" (Update))
	}
	if _, err = planner.Apply(ctx, plan); err != nil { // sends exactly this plan
		log.Fatal(err)
	}
	// Output:
	// Update 1 drifted
	// data.mode: "light" -> "dark" (drifted: changed by "kubectl" (Update))
}
