// Flux plans with Flux's library for server-side apply.
package main

import (
	"context"

	"github.com/fluxcd/pkg/ssa"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ssaplan/primitives/test/bench/driver"
)

func main() { driver.Main(prepare) }

func prepare(setup driver.Setup) (driver.Round, error) {
	objects, err := setup.Objects()
	if err != nil {
		return nil, err
	}
	manager, err := newManager(setup.Config)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) ([]bool, error) {
		changed := make([]bool, len(objects))
		err := driver.Each(len(objects), setup.Concurrency, func(i int) error {
			entry, _, _, err := manager.Diff(ctx, objects[i], ssa.DefaultDiffOptions())
			if err != nil {
				return err
			}
			changed[i] = entry.Action != ssa.UnchangedAction
			return nil
		})
		return changed, err
	}, nil
}

func newManager(config *rest.Config) (*ssa.ResourceManager, error) {
	c, err := client.New(config, client.Options{})
	if err != nil {
		return nil, err
	}
	return ssa.NewResourceManager(c, nil, ssa.Owner{Field: driver.Manager, Group: "bench.example.com"}), nil
}
