// Dryruns reads all objects by one list and sends a dry run for each, as HTTP with bodies made in advance, and looks at
// no answer. No planner that asks the server about each object can take less.
package main

import (
	"context"

	"github.com/ssaplan/primitives/test/bench/driver"
)

func main() { driver.Main(prepare) }

func prepare(setup driver.Setup) (driver.Round, error) {
	raw, err := setup.Raw()
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) ([]bool, error) {
		if _, err := raw.List(ctx, 0, raw.Len()); err != nil {
			return nil, err
		}
		return nil, driver.Each(raw.Len(), setup.Concurrency, func(i int) error {
			_, err := raw.DryRun(ctx, i)
			return err
		})
	}, nil
}
