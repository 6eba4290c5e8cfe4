package main

import (
	"context"
	"fmt"
	"math"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/test/bench/driver"
	"github.com/ssaplan/primitives/test/bench/scenario"
)

// growthWithSize fits a power to the processor time that planning an object takes, over its size.
func (m *measurement) growthWithSize(ctx context.Context) error {
	worst := 0.0
	for _, changed := range []bool{false, true} {
		var sizes, times []float64
		for _, size := range []int{1 << 10, 16 << 10, 128 << 10, 1300 << 10} {
			manifest := scenario.Gadget(size, size)
			text, err := manifest.MarshalJSON()
			if err != nil {
				return err
			}
			used, err := m.timeOf(ctx, manifest, changed)
			if err != nil {
				return err
			}
			fmt.Printf("custom resource of %d KB, changed: %v: %.0f µs CPU\n", len(text)>>10, changed, used)
			sizes, times = append(sizes, float64(len(text))), append(times, used)
		}
		for i := range len(sizes) - 1 {
			worst = max(worst, math.Log(times[i+1]/times[i])/math.Log(sizes[i+1]/sizes[i]))
		}
	}
	fmt.Printf("figure: size-growth-exponent = %.2f\n", worst) // the steepest part counts
	return nil
}

// timeOf returns the microseconds that planning an object takes.
func (m *measurement) timeOf(ctx context.Context, manifest *unstructured.Unstructured, changed bool) (float64, error) {
	one := func(int) *unstructured.Unstructured { return manifest }
	if err := m.cluster.Apply(ctx, 1, one); err != nil {
		return 0, err
	}
	if changed {
		manifest = manifest.DeepCopy()
		if err := unstructured.SetNestedField(manifest.Object, int64(4), "spec", "size"); err != nil {
			return 0, err
		}
	}
	var times []float64
	for range 2 * m.rounds {
		const repeats = 5
		used, err := timed(repeats, func() error {
			for range repeats {
				plan, err := m.planner.Plan(ctx, ssaplan.Request{Manifest: manifest})
				if err != nil {
					return err
				}
				if (plan.Action != ssaplan.ActionNoOp) != changed {
					return fmt.Errorf("%s: %s", plan.Object, plan.Action)
				}
			}
			return nil
		})
		if err != nil {
			return 0, err
		}
		times = append(times, float64(used.cpu.Nanoseconds())/1000)
	}
	return driver.Median(times), nil
}
