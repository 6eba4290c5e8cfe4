package planner_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"

	"github.com/ssaplan/primitives/authresilience"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/explain"
	"github.com/ssaplan/primitives/test/lab"
)

// plannerUntil returns a planner whose client certificate ends at a time.
func (c *cluster) plannerUntil(t *testing.T, end time.Time) *ssaplan.Planner {
	cert, key, err := c.Server.ClientCert("jo", []string{"system:masters"}, end.Add(-time.Hour), end)
	require.NoError(t, err)
	config := rest.AnonymousClientConfig(c.Config)
	config.CertData, config.KeyData = cert, key
	planner, err := lab.NewPlanner(config, ssaplan.Options{FieldManager: manager, DefaultNamespace: c.Namespace})
	require.NoError(t, err)
	return planner
}

// TestExpiringMidway reads and applies many objects with a certificate that ends while that goes on.
func TestExpiringMidway(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	var states []*explain.State
	var manifests []*unstructured.Unstructured
	began := time.Now()
	for i := range 20 {
		m := manifest(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: midway-%d}, data: {a: A}}", i)
		states = append(states, c.apply(t, m))
		set(m, "B", "data", "a")
		manifests = append(manifests, m)
	}
	// Until the end there are about as many requests as there were until now, on a machine that may be slower by then.
	end := time.Now().Add(9*time.Second + 2*time.Since(began)).Truncate(time.Second)
	planner := c.plannerUntil(t, end)
	read, kept, applied, failed := 0, 0, 0, 0
	var plans []*ssaplan.Plan
	for i, state := range states {
		if i == len(states)/2 {
			for _, m := range manifests {
				plan, err := planner.Plan(t.Context(), ssaplan.Request{Manifest: m})
				require.NoError(t, err)
				plans = append(plans, plan)
			}
			_, err := planner.Apply(t.Context(), plans[0])
			require.NoError(t, err)
			applied++
			time.Sleep(time.Until(end.Add(1100 * time.Millisecond)))
		}
		reading, err := planner.Read(t.Context(), state)
		require.NoError(t, err, "no state is lost")
		if reading.Presence == ssaplan.PresenceFound {
			read++
			continue
		}
		require.Equal(t, ssaplan.PresenceUnreadable, reading.Presence)
		require.Equal(t, state.Applied, reading.State.Applied)
		kept++
	}
	for _, plan := range plans[applied:] {
		_, err := planner.Apply(t.Context(), plan)
		require.Equal(t, authresilience.ClassAuthentication, authresilience.Classify(err))
		failed++
	}
	require.Equal(t, []int{10, 10, 1, 19}, []int{read, kept, applied, failed})
}
