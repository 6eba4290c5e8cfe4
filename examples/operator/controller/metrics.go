package controller

import (
	"context"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/ssaplan/primitives/ssaplan"
)

// planningRequests is 0 a second when nothing changes.
var planningRequests = prometheus.NewCounterVec(prometheus.CounterOpts{
	Name: "website_planning_requests_total",
	Help: "Requests sent to plan and apply the children of Websites.",
}, []string{"kind", "verb", "dry_run", "class"})

func init() { metrics.Registry.MustRegister(planningRequests) }

func countRequest(_ context.Context, seen ssaplan.Observation) {
	planningRequests.WithLabelValues(seen.Object.Kind, seen.Verb, strconv.FormatBool(seen.DryRun), string(seen.Class)).Inc()
}
