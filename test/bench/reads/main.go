// Reads plans with this library, each object by itself: a read and a dry run for each, where the planner reads a set by
// lists.
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
	planner, err := ssaplan.New(api, ssaplan.Options{FieldManager: driver.Manager})
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) ([]bool, error) {
		changed := make([]bool, len(objects))
		return changed, driver.Each(len(objects), setup.Concurrency, func(i int) error {
			plan, err := planner.Plan(ctx, ssaplan.Request{Manifest: objects[i]})
			if err == nil {
				changed[i] = plan.Action != ssaplan.ActionNoOp
			}
			return err
		})
	}, nil
}
