package planner_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes"

	"github.com/ssaplan/primitives/authresilience"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/test/controlplane"
)

// TestServerRestarts stops the API server while many objects are planned and while they are applied. Each object gets a
// plan or an error that says what was wrong with the connection, and in the end each was written exactly once.
func TestServerRestarts(t *testing.T) {
	r := newRestarting(t, 150, controlplane.Options{})
	r.applyAll(t, "app:1", nil)
	require.Equal(t, len(r.requests), r.generations(t)[1], "every object is there, in its first generation")

	plans, failures := r.planDuringRestart(t, "app:2")
	require.Equal(t, len(r.requests), plans+failures)
	t.Logf("a restart while planning: %d plans, %d errors", plans, failures)

	applied, failures := r.applyAll(t, "app:2", r.restart)
	t.Logf("a restart while applying: %d applied, %d errors", applied, failures)
	_, failures = r.applyAll(t, "app:2", nil)
	require.Zero(t, failures)
	for plan, err := range r.planner.PlanAll(t.Context(), r.requests) {
		require.NoError(t, err)
		require.Equal(t, ssaplan.NoOp, plan.Action)
	}
	require.Equal(t, map[int64]int{2: len(r.requests)}, r.generations(t), "nothing is lost, and nothing is written twice")
}

// TestServerThrottles plans more at a time than the server wants to answer. It says 429 with Retry-After, and client-go
// waits for that time. What is still throttled then is an error that says so.
func TestServerThrottles(t *testing.T) {
	r := newRestarting(t, 150, controlplane.Options{APIServerArgs: []string{
		"--enable-priority-and-fairness=false", "--max-requests-inflight=1", "--max-mutating-requests-inflight=1",
	}})
	r.applyAll(t, "app:1", nil)
	r.setImage(t, "app:2")
	for attempt := 1; len(r.requests) > 0; attempt++ {
		require.Less(t, attempt, 20, "nobody is throttled for ever")
		var throttled []ssaplan.Request
		i := 0
		for plan, err := range r.planner.PlanAll(t.Context(), r.requests) {
			if err == nil {
				_, err = r.planner.Apply(t.Context(), plan)
			}
			if err != nil {
				requireConnectionError(t, err)
				throttled = append(throttled, r.requests[i])
			}
			i++
		}
		r.requests = throttled
	}
	require.Equal(t, map[int64]int{2: 150}, r.generations(t), "nothing is lost, and nothing is written twice")
	require.NotZero(t, r.slow.Load(), "nothing was throttled")
}

// restarting is a server of the test's own with objects on it.
type restarting struct {
	server   *controlplane.Server
	planner  *ssaplan.Planner
	requests []ssaplan.Request
	slow     atomic.Int64 // requests that waited for a Retry-After, which is a second, or that were refused
}

func (r *restarting) observe(_ context.Context, o ssaplan.Observation) {
	if o.Class == authresilience.Throttled || o.Duration > time.Second {
		r.slow.Add(1)
	}
}

func newRestarting(t *testing.T, objects int, options controlplane.Options) *restarting {
	r := &restarting{server: controlplane.ForTest(t, options)}
	config, err := r.server.ConfigFor("jane") // an administrator is never throttled
	require.NoError(t, err)
	config.Timeout = 20 * time.Second
	_, err = kubernetes.NewForConfigOrDie(r.server.Config()).RbacV1().ClusterRoleBindings().Create(t.Context(), &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "jane"},
		Subjects:   []rbacv1.Subject{{Kind: "User", APIGroup: rbacv1.GroupName, Name: "jane"}},
		RoleRef:    rbacv1.RoleRef{Kind: "ClusterRole", APIGroup: rbacv1.GroupName, Name: "cluster-admin"},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	r.planner, err = ssaplan.New(config, ssaplan.Options{FieldManager: manager, Concurrency: 32, Observe: r.observe})
	require.NoError(t, err)
	for i := range objects {
		r.requests = append(r.requests, ssaplan.Request{Manifest: manifest(t, `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web-%d, namespace: default}
spec:
  selector: {matchLabels: {app: web}}
  template: {metadata: {labels: {app: web}}, spec: {containers: [{name: app, image: app:0}]}}`, i)})
	}
	return r
}

// restart stops the server in the middle of what is being done, in the background, and waits for it at the end.
func (r *restarting) restart(t *testing.T) (wait func()) {
	done := make(chan error, 1)
	go func() { done <- r.server.Restart(context.Background()) }()
	return func() { require.NoError(t, <-done) }
}

func (r *restarting) setImage(t *testing.T, image string) {
	for _, request := range r.requests {
		containers := []any{map[string]any{"name": "app", "image": image}}
		require.NoError(t, unstructured.SetNestedSlice(request.Manifest.Object, containers, "spec", "template", "spec", "containers"))
	}
}

func (r *restarting) planDuringRestart(t *testing.T, image string) (plans, failures int) {
	r.setImage(t, image)
	wait := func() {}
	for plan, err := range r.planner.PlanAll(t.Context(), r.requests) {
		if plans == 20 {
			wait = r.restart(t)
		}
		if err != nil {
			requireConnectionError(t, err)
			failures++
			continue
		}
		require.Equal(t, ssaplan.Update, plan.Action)
		plans++
	}
	wait()
	return plans, failures
}

// applyAll plans and applies every object, with the restart midway if there is one.
func (r *restarting) applyAll(t *testing.T, image string, restart func(*testing.T) func()) (applied, failures int) {
	r.setImage(t, image)
	for i, request := range r.requests {
		if restart != nil && i == 20 {
			defer restart(t)()
		}
		plan, err := r.planner.Plan(t.Context(), request)
		if err == nil {
			_, err = r.planner.Apply(t.Context(), plan)
		}
		if err != nil {
			requireConnectionError(t, err)
			failures++
			continue
		}
		applied++
	}
	return applied, failures
}

// requireConnectionError checks that an error names the object and is of a class that a server which comes and goes causes.
func requireConnectionError(t *testing.T, err error) {
	require.ErrorContains(t, err, "apps/v1/Deployment default/web-")
	class := authresilience.Classify(err)
	require.Contains(t, []authresilience.Class{authresilience.Connection, authresilience.Timeout, authresilience.Unavailable, authresilience.Throttled},
		class, fmt.Sprint(err))
}

// generations counts the objects of each generation, which grows with each write of a spec.
func (r *restarting) generations(t *testing.T) map[int64]int {
	list, err := kubernetes.NewForConfigOrDie(r.server.Config()).AppsV1().Deployments("default").List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	out := map[int64]int{}
	for _, item := range list.Items {
		out[item.GetGeneration()]++
	}
	return out
}
