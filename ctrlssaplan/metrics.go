package ctrlssaplan

import (
	"context"
	"slices"
	"strconv"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/ssaplan/primitives/projection/foreign"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/server"
)

// planningRequests is 0 a second when nothing changes.
var planningRequests = prometheus.NewCounterVec(prometheus.CounterOpts{
	Name: "ctrlssaplan_requests_total",
	Help: "Requests sent to plan and apply children.",
}, []string{"kind", "verb", "dry_run", "class"})

// outcomes counts what became of children, by verdict.
var outcomes = prometheus.NewCounterVec(prometheus.CounterOpts{
	Name: "ctrlssaplan_children_total",
	Help: "Children that were checked, by result: Repaired after drift, Fought if another client changes the child " +
		"again after each repair.",
}, []string{"verdict"})

// count counts what became of children.
func count(all []outcome) {
	for _, o := range all {
		switch {
		case len(o.repaired) > 0:
			outcomes.WithLabelValues("Repaired").Inc()
		case o.fought:
			outcomes.WithLabelValues("Fought").Inc()
		default:
			outcomes.WithLabelValues(string(o.verdict)).Inc()
		}
	}
}

// measured are the no-op caches of all kits, whose numbers are shown together.
var measured caches

type caches struct {
	mu  sync.Mutex
	all []*ssaplan.NoOpCache
}

// add adds a cache, which several kits may have.
func (c *caches) add(cache *ssaplan.NoOpCache) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !slices.Contains(c.all, cache) {
		c.all = append(c.all, cache)
	}
}

// stats returns the sums, and each part of a server that may not be read once.
func (c *caches) stats() (sum ssaplan.NoOpStats) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, cache := range c.all {
		s := cache.Stats()
		sum.Hits, sum.Misses, sum.Evicted, sum.Expired = sum.Hits+s.Hits, sum.Misses+s.Misses, sum.Evicted+s.Evicted,
			sum.Expired+s.Expired
		sum.Entries, sum.Unseen = sum.Entries+s.Entries, append(sum.Unseen, s.Unseen...)
	}
	slices.Sort(sum.Unseen)
	sum.Unseen = slices.Compact(sum.Unseen)
	return sum
}

// ofCaches returns a metric of the no-op caches.
func ofCaches(name, help string, value func(ssaplan.NoOpStats) float64) prometheus.Collector {
	options := prometheus.GaugeOpts{Name: "ctrlssaplan_noop_cache_" + name, Help: help}
	return prometheus.NewGaugeFunc(options, func() float64 { return value(measured.stats()) })
}

func init() {
	metrics.Registry.MustRegister(planningRequests, outcomes,
		ofCaches("hits", "Children that were planned without a request.",
			func(s ssaplan.NoOpStats) float64 { return float64(s.Hits) }),
		ofCaches("misses", "Children that the server was asked about.",
			func(s ssaplan.NoOpStats) float64 { return float64(s.Misses) }),
		ofCaches("evicted", "Answers that were evicted for others: the cache is too small.",
			func(s ssaplan.NoOpStats) float64 { return float64(s.Evicted) }),
		ofCaches("expired", "Answers that became too old.",
			func(s ssaplan.NoOpStats) float64 { return float64(s.Expired) }),
		ofCaches("entries", "Answers that are remembered.",
			func(s ssaplan.NoOpStats) float64 { return float64(s.Entries) }),
		ofCaches("unseen", "Parts of the server's configuration that may not be read.",
			func(s ssaplan.NoOpStats) float64 { return float64(len(s.Unseen)) }),
	)
}

func countRequest(_ context.Context, seen server.Observation) {
	planningRequests.WithLabelValues(foreign.Text(seen.Object.Kind).String(), seen.Verb,
		strconv.FormatBool(seen.DryRun), string(seen.Class)).Inc()
}
