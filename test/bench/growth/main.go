// Growth measures how what the planner takes grows: with the number of objects, with their size, and that next to
// nothing is left of it when nothing changed since the last plan. It prints rows and figures.
//
//	growth [-n 10000] [-rounds 3]
//
// The server is that of KUBECONFIG.
package main

import (
	"context"
	"flag"
	"fmt"
	"net/http"
	"os"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/client"
	"github.com/ssaplan/primitives/test/bench/driver"
	"github.com/ssaplan/primitives/test/bench/scenario"
)

type measurement struct {
	n, rounds int
	config    *rest.Config
	requests  atomic.Int64
	cluster   *scenario.Cluster
	api       *client.Client
	planner   *ssaplan.Planner
}

func main() {
	m := &measurement{}
	flag.IntVar(&m.n, "n", 10000, "the most objects to plan at once")
	flag.IntVar(&m.rounds, "rounds", 3, "rounds; the median counts")
	flag.Parse()
	if err := m.run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "growth:", err)
		os.Exit(1)
	}
}

func (m *measurement) run(ctx context.Context) error {
	if m.n < few || m.rounds < 1 {
		return fmt.Errorf("-n %d -rounds %d: it takes at least %d objects and 1 round", m.n, m.rounds, few)
	}
	if err := m.connect(ctx); err != nil {
		return err
	}
	for _, measure := range []func(context.Context) error{m.growthWithSize, m.cached, m.growthWithNumber} {
		if err := measure(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (m *measurement) connect(ctx context.Context) (err error) {
	if m.config, err = clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG")); err != nil {
		return err
	}
	m.config.QPS, m.config.WarningHandler = -1, rest.NoWarnings{}
	m.config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return driver.Counter{RoundTripper: next, Requests: &m.requests}
	})
	dyn, err := dynamic.NewForConfig(m.config)
	if err != nil {
		return err
	}
	if m.api, err = client.New(m.config, client.Options{}); err != nil {
		return err
	}
	if m.planner, err = ssaplan.New(m.api, ssaplan.Options{FieldManager: driver.Manager}); err != nil {
		return err
	}
	m.cluster, err = scenario.NewCluster(ctx, dyn)
	return err
}

// small returns an object of 1 KB.
func small(i int) *unstructured.Unstructured { return scenario.ConfigMap(i, 1<<10) }

// requestsFor returns the requests to plan n manifests, none of which changes anything.
func (m *measurement) requestsFor(ctx context.Context, n int,
	manifest func(int) *unstructured.Unstructured) ([]ssaplan.Request, error) {
	requests := make([]ssaplan.Request, n)
	for i := range requests {
		requests[i].Manifest = manifest(i)
	}
	return requests, m.cluster.Apply(ctx, n, manifest)
}

// plan plans all and expects that nothing changes.
func plan(ctx context.Context, planner *ssaplan.Planner, requests []ssaplan.Request) error {
	for plan, err := range planner.PlanAll(ctx, requests) {
		if err := unchanged(plan, err); err != nil {
			return err
		}
	}
	return nil
}

func unchanged(plan *ssaplan.Plan, err error) error {
	if err == nil && plan.Action != ssaplan.ActionNoOp {
		return fmt.Errorf("%s: %s, although nothing changes", plan.Object, plan.Action)
	}
	return err
}

// cost is what something took for each object.
type cost struct{ wall, cpu time.Duration }

func timed(objects int, do func() error) (cost, error) {
	start, used := time.Now(), driver.ProcessorTime()
	err := do()
	n := time.Duration(objects)
	return cost{time.Since(start) / n, (driver.ProcessorTime() - used) / n}, err
}
