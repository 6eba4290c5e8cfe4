package planner_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/ssaplan/primitives/ssaplan"
)

// distance makes requests take longer, as those to a server far away.
type distance struct {
	next http.RoundTripper
	each time.Duration
}

func (d distance) RoundTrip(r *http.Request) (*http.Response, error) {
	time.Sleep(d.each)
	return d.next.RoundTrip(r)
}

// TestBusyObject plans and applies an object whose controller writes its status all the time. That is no reason to
// fail, as it isn't for an apply by itself; a change of what was reviewed still is. BUSY says how often (make busy).
func TestBusyObject(t *testing.T) {
	rounds := 5
	if text := os.Getenv("BUSY"); text != "" {
		var err error
		rounds, err = strconv.Atoi(text)
		require.NoError(t, err)
	}
	c := newCluster(t)
	const text = "{apiVersion: example.com/v1, kind: Widget, metadata: {name: busy}, spec: {size: %d, color: %s}}"
	widget := c.Apply(t, manager, manifest(t, text, 0, "red"))
	ctx, stop := context.WithCancel(t.Context())
	stopped := make(chan int)
	go func() {
		status, writes := c.Resource(t, widget), 0
		for tick := time.NewTicker(20 * time.Millisecond); ctx.Err() == nil; <-tick.C {
			body := fmt.Appendf(nil, `{"status":{"seen":%d}}`, writes)
			if _, err := status.Patch(ctx, "busy", types.MergePatchType, body, metav1.PatchOptions{FieldManager: "controller"}, "status"); err == nil {
				writes++
			}
		}
		stopped <- writes
	}()
	config := rest.CopyConfig(c.Config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return distance{next, 40 * time.Millisecond} })
	planner, err := ssaplan.New(config, ssaplan.Options{FieldManager: manager, DefaultNamespace: c.Namespace})
	require.NoError(t, err)
	started := time.Now()
	for i := range rounds {
		plan, err := planner.Plan(t.Context(), ssaplan.Request{Manifest: manifest(t, text, i+1, "red")})
		require.NoError(t, err)
		require.Equal(t, ssaplan.ActionUpdate, plan.Action)
		require.Len(t, plan.Changes, 1, "what the controller writes isn't told: %v", plan.Changes)
		_, err = planner.Apply(t.Context(), plan)
		require.NoError(t, err)
		again, err := planner.Plan(t.Context(), ssaplan.Request{Manifest: manifest(t, text, i+1, "red")})
		require.NoError(t, err)
		require.Equal(t, ssaplan.ActionNoOp, again.Action, again.Changes)
	}
	took := time.Since(started)
	plan, err := planner.Plan(t.Context(), ssaplan.Request{Manifest: manifest(t, text, 0, "blue")})
	require.NoError(t, err)
	c.Apply(t, "somebody", manifest(t, text, rounds, "green"))
	_, err = planner.Apply(t.Context(), plan)
	var changed *ssaplan.ChangedError
	require.ErrorAs(t, err, &changed, "what was reviewed has changed")
	stop()
	writes := <-stopped
	require.Greater(t, writes, 5*rounds)
	t.Logf("figure: a busy object: %d plans and applies, none failed, %v each, %.0f writes of its status a second",
		rounds, (took / time.Duration(rounds)).Round(time.Millisecond), float64(writes)/time.Since(started).Seconds())
}
