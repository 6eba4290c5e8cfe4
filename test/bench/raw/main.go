// Raw sends the two requests of a plan with nothing but HTTP and bodies made in advance, and compares the bytes of the
// answers. No planner that reads each object by itself can take less.
package main

import (
	"bytes"
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
		changed := make([]bool, raw.Len())
		err := driver.Each(raw.Len(), setup.Concurrency, func(i int) error {
			live, err := raw.Get(ctx, i)
			if err != nil {
				return err
			}
			dryRun, err := raw.DryRun(ctx, i)
			changed[i] = !bytes.Equal(live, dryRun)
			return err
		})
		return changed, err
	}, nil
}
