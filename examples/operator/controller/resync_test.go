package controller_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	ctrl "sigs.k8s.io/controller-runtime"
)

// Ten minutes of an operator whose informers resync every five seconds, without waiting for them.
const (
	simulated  = 10 * time.Minute
	syncPeriod = 5 * time.Second
)

func TestResyncsSendNothing(t *testing.T) {
	w := newWorld(t)
	a, b := w.website("a"), w.website("b")
	o := w.operate(func(options *ctrl.Options) { options.Controller.MaxConcurrentReconciles = 4 })
	o.settle(a, b)
	for _, kind := range []string{"ConfigMap", "Deployment", "Service", "Ingress"} {
		o.awaitEvent(a, "Created", kind) // events are written in the background
		o.awaitEvent(b, "Created", kind)
	}
	versions, sent, written := o.versions(a, b), o.traffic.all(), o.traffic.writes()
	before := o.noOps.Stats()
	require.NotEmpty(t, written, "the transport sees what the operator sends")

	resyncs := 0
	for range simulated / syncPeriod {
		o.resync(a, b)
		resyncs += 2
	}
	assert.Equal(t, sent, o.traffic.all(), "requests")
	assert.Equal(t, versions, o.versions(a, b))
	after := o.noOps.Stats()
	assert.Equal(t, before.Misses, after.Misses, "questions that the cache could not answer")
	assert.GreaterOrEqual(t, after.Hits-before.Hits, int64(resyncs*len(kinds)))
	fmt.Printf("figure: %d resyncs of %d children each, %d requests, %d writes\n", resyncs, len(kinds),
		len(o.traffic.all())-len(sent), len(o.traffic.writes())-len(written))
}
