package planner_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/server"
	"github.com/ssaplan/primitives/test/lab"
)

// Each object of a set takes a read and a dry run. What all objects share is asked for once for each version of a
// group: which kinds there are, and whether the server gets dryRun.
func TestRequestsOfASet(t *testing.T) {
	c := newCluster(t)
	var mu sync.Mutex
	sent, questions := map[string]int{}, time.Duration(0)
	planner := c.Planner(t, ssaplan.Options{FieldManager: manager, Observe: func(_ context.Context, o server.Observation) {
		mu.Lock()
		defer mu.Unlock()
		sent[fmt.Sprint(o.Verb, " ", o.Status)]++
		if o.Status == 422 {
			questions += o.Duration
		}
	}})
	const objects = 40
	manifests := []string{
		"{apiVersion: v1, kind: ConfigMap, metadata: {name: set-%d}, data: {a: A}}",
		"{apiVersion: v1, kind: Service, metadata: {name: set-%d}, spec: {ports: [{port: 80}]}}",
		"{apiVersion: batch/v1, kind: CronJob, metadata: {name: set-%d}, spec: {schedule: '* * * * *', jobTemplate: {spec: {template: " +
			"{spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}}}}}",
	}
	var requests []ssaplan.Request
	for i := range objects {
		requests = append(requests, ssaplan.Request{Manifest: lab.Objectf(t, manifests[i%len(manifests)], i)})
	}
	for range 2 {
		for plan, err := range planner.PlanAll(t.Context(), requests) {
			require.NoError(t, err)
			require.Equal(t, 2, plan.Requests)
		}
	}
	require.Equal(t, map[string]int{"discover 200": 2, "patch 422": 2, "get 404": 2 * objects, "patch 201": 2 * objects}, sent)
	t.Logf("asking whether the server gets dryRun took %v for each version of a group", questions/2)
}
