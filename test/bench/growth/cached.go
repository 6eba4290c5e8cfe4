package main

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/test/bench/driver"
	"github.com/ssaplan/primitives/test/bench/scenario"
)

// cached measures planning again what a [ssaplan.NoOpCache] knows, with live objects that the host has.
func (m *measurement) cached(ctx context.Context) error {
	worst := 0.0
	for name, manifest := range map[string]func(int) *unstructured.Unstructured{
		"ConfigMap of 1 KB": small, "Deployment": scenario.Kinds[0].Make,
	} {
		microseconds, err := m.cachedTime(ctx, name, manifest)
		if err != nil {
			return err
		}
		worst = max(worst, microseconds)
	}
	fmt.Printf("figure: cached-replan-us = %.1f\n", worst)
	return nil
}

// cachedTime returns what each of many objects takes when all are planned at once. So many are no longer in the
// processor's caches when they are planned again, as it is where a host plans all that it has.
func (m *measurement) cachedTime(ctx context.Context, name string,
	manifest func(int) *unstructured.Unstructured) (microseconds float64, err error) {
	planner, err := ssaplan.New(m.api,
		ssaplan.Options{FieldManager: driver.Manager,
			NoOps: ssaplan.NewNoOpCache(ssaplan.NoOpCacheOptions{Size: m.n, ServerInterval: -1})})
	if err != nil {
		return 0, err
	}
	requests, err := m.requestsFor(ctx, m.n, manifest)
	if err != nil {
		return 0, err
	}
	err = driver.Each(m.n, 8, func(i int) (err error) {
		requests[i].Live, err = m.cluster.Get(ctx, requests[i].Manifest)
		return err
	})
	if err != nil {
		return 0, err
	}
	if err := plan(ctx, planner, requests); err != nil { // fills the cache
		return 0, err
	}
	sent := m.requests.Load()
	var times []float64
	for range m.rounds {
		atOnce, err := timed(m.n, func() error { return plan(ctx, planner, requests) })
		if err != nil {
			return 0, err
		}
		inTurns, err := timed(m.n, func() error {
			for _, request := range requests {
				if err := unchanged(planner.Plan(ctx, request)); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return 0, err
		}
		fmt.Printf("%d × %s, planned again: at once %v wall, %v CPU each; one after the other %v wall, %v CPU\n",
			m.n, name, atOnce.wall, atOnce.cpu, inTurns.wall, inTurns.cpu)
		times = append(times, float64(atOnce.wall.Nanoseconds())/1000)
	}
	if sent = m.requests.Load() - sent; sent != 0 {
		return 0, fmt.Errorf("%d requests for what the cache knows", sent)
	}
	return driver.Median(times), nil
}
