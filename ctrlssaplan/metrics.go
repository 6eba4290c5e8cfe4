package ctrlssaplan

import (
	"context"
	"strconv"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/ssaplan/primitives/projection/foreign"
	"github.com/ssaplan/primitives/ssaplan"
)

// planningRequests is 0 a second when nothing changes.
var planningRequests = prometheus.NewCounterVec(prometheus.CounterOpts{
	Name: "ctrlssaplan_requests_total",
	Help: "Requests sent to plan and apply children.",
}, []string{"kind", "verb", "dry_run", "class"})

// outcomes counts what became of children, by verdict.
var outcomes = prometheus.NewCounterVec(prometheus.CounterOpts{
	Name: "ctrlssaplan_children_total",
	Help: "Children that were looked at, by what became of them; repaired ones of drift are Repaired, and those that are left because of a fight are Fought.",
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

// measured is the no-op cache whose numbers are shown: that of the last kit that made one.
var measured atomic.Pointer[ssaplan.NoOpCache]

// ofCache returns a metric of the no-op cache.
func ofCache(name, help string, value func(ssaplan.NoOpStats) float64) prometheus.Collector {
	options := prometheus.GaugeOpts{Name: "ctrlssaplan_noop_cache_" + name, Help: help}
	return prometheus.NewGaugeFunc(options, func() float64 { return value(measured.Load().Stats()) })
}

func init() {
	metrics.Registry.MustRegister(planningRequests, outcomes,
		ofCache("hits", "Children that were planned without a request.", func(s ssaplan.NoOpStats) float64 { return float64(s.Hits) }),
		ofCache("misses", "Children that the server was asked about.", func(s ssaplan.NoOpStats) float64 { return float64(s.Misses) }),
		ofCache("evicted", "Answers that had to go for others: the cache is too small.", func(s ssaplan.NoOpStats) float64 { return float64(s.Evicted) }),
		ofCache("expired", "Answers that became too old.", func(s ssaplan.NoOpStats) float64 { return float64(s.Expired) }),
		ofCache("entries", "Answers that are remembered.", func(s ssaplan.NoOpStats) float64 { return float64(s.Entries) }),
		ofCache("unseen", "Parts of the server's configuration that may not be read.", func(s ssaplan.NoOpStats) float64 { return float64(len(s.Unseen)) }),
	)
}

func countRequest(_ context.Context, seen ssaplan.Observation) {
	planningRequests.WithLabelValues(foreign.Text(seen.Object.Kind).String(), seen.Verb, strconv.FormatBool(seen.DryRun), string(seen.Class)).Inc()
}
