// Planner plans with this library.
package main

import (
	"context"

	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/client"
	"github.com/ssaplan/primitives/test/bench/driver"
)

func main() { driver.Main(prepare) }

func prepare(setup driver.Setup) (driver.Round, error) {
	objects, err := setup.Objects()
	if err != nil {
		return nil, err
	}
	api, err := client.New(setup.Config, client.Options{})
	if err != nil {
		return nil, err
	}
	planner, err := ssaplan.New(api, ssaplan.Options{FieldManager: driver.Manager, Concurrency: setup.Concurrency})
	if err != nil {
		return nil, err
	}
	requests := make([]ssaplan.Request, len(objects))
	for i, object := range objects {
		requests[i].Manifest = object
	}
	return func(ctx context.Context) ([]bool, error) {
		var changed []bool
		for plan, err := range planner.PlanAll(ctx, requests) {
			if err != nil {
				return nil, err
			}
			changed = append(changed, plan.Action != ssaplan.ActionNoOp)
		}
		return changed, nil
	}, nil
}
