package planner_test

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/ssaplan/primitives/authresilience"
	"github.com/ssaplan/primitives/internal/clock"
	"github.com/ssaplan/primitives/ssaplan"
	api "github.com/ssaplan/primitives/ssaplan/server"
	"github.com/ssaplan/primitives/test/controlplane"
	"github.com/ssaplan/primitives/test/lab"
)

// patience is for how long a throttled request waits in these tests, where a server asks for a second.
const patience = 200 * time.Millisecond

// TestServerThrottles plans and applies more objects at a time than the server accepts. The server answers reads, dry
// runs and applies with 429 and Retry-After. The planner waits for that time as often as its options allow, and reports
// each request to the observer. If a request is still throttled then, the error says so.
func TestServerThrottles(t *testing.T) {
	t.Parallel()
	server := controlplane.ForTest(t, controlplane.Options{APIServerArgs: []string{
		"--enable-priority-and-fairness=false", "--max-requests-inflight=1", "--max-mutating-requests-inflight=1",
	}})
	config, err := server.ConfigFor("jane") // an administrator is never throttled
	require.NoError(t, err)
	makeAdministrator(t, server, "jane")
	told := &throttled{counts: map[string]int{}}
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		told.next = next
		return told
	})
	m := newMany(t, 32, server, config)
	m.clock.LongestSleep = patience
	var observed atomic.Int64
	options := ssaplan.Options{
		FieldManager: manager, ThrottleRetries: 2, Concurrency: concurrency,
		Observe: func(_ context.Context, o api.Observation) {
			if o.Status == http.StatusTooManyRequests {
				observed.Add(1)
			}
		},
	}
	told.forget()
	round := 0
	for ; !told.each("get", "dry run", "apply"); round++ {
		m.planner, err = lab.NewPlanner(config, options) // one that was throttled sends less at a time
		require.NoError(t, err)
		require.Less(t, round, 20, "not every request was throttled: %v", told.counts)
		m.edit(strconv.Itoa(round))
		m.supply(t)
		m.planAll(t) // dry runs alone, which else come one by one, as the reads before them do
		m.supply(nil)
		m.applyUntilDone(t)
	}
	t.Logf("answers of 429 with Retry-After in %d rounds: %v", round, told.counts)
	require.EqualValues(t, told.all(), observed.Load(), "nothing is sent again behind anybody's back")
	m.planner, err = lab.NewPlanner(server.Config(), ssaplan.Options{FieldManager: manager})
	require.NoError(t, err)
	m.requireWrites(t, strconv.Itoa(round-1), round)
}

// A priority level with one share answers three requests at a time. All objects are planned all the same, with hardly
// more requests than elsewhere, because the planner sends fewer at a time when it is throttled.
func TestPriorityLevelOfOneShare(t *testing.T) {
	t.Parallel()
	server := controlplane.Shared(t)
	config, err := server.ConfigFor("narrow")
	require.NoError(t, err)
	makeAdministrator(t, server, "narrow")
	c := lab.On(t, server)
	for _, text := range []string{
		`{apiVersion: flowcontrol.apiserver.k8s.io/v1, kind: PriorityLevelConfiguration, metadata: {name: narrow},
			spec: {type: Limited, limited: {nominalConcurrencyShares: 1, lendablePercent: 0, borrowingLimitPercent: 0, limitResponse: {type: Reject}}}}`,
		`{apiVersion: flowcontrol.apiserver.k8s.io/v1, kind: FlowSchema, metadata: {name: narrow}, spec: {matchingPrecedence: 2, priorityLevelConfiguration: {name: narrow},
			rules: [{subjects: [{kind: User, user: {name: narrow}}], resourceRules: [{verbs: ["*"], apiGroups: ["*"], resources: ["*"], namespaces: ["*"], clusterScope: true}]}]}}`,
	} {
		m := lab.Object(t, text)
		c.Apply(t, "operator", m)
		t.Cleanup(func() { c.Delete(t, m) })
	}
	lab.Eventually(t, "the flow schema is in force", func() bool {
		planner, err := lab.NewPlanner(config, ssaplan.Options{FieldManager: manager, ThrottleRetries: -1, Concurrency: 64, DefaultNamespace: c.Namespace})
		require.NoError(t, err)
		_, refused := planMany(t, planner, 64)
		return refused > 0
	})
	var throttled atomic.Int64
	planner, err := lab.NewPlanner(config, ssaplan.Options{
		FieldManager: manager, Concurrency: 64, DefaultNamespace: c.Namespace,
		Observe: func(_ context.Context, o api.Observation) {
			if o.Status == http.StatusTooManyRequests {
				throttled.Add(1)
			}
		},
	})
	require.NoError(t, err)
	const objects = 300
	start := time.Now()
	requests, refused := planMany(t, planner, objects)
	t.Logf("figure: %d objects through a priority level of one share: %d requests, %d of them throttled, in %v", objects, requests, throttled.Load(),
		time.Since(start).Round(time.Millisecond))
	require.Zero(t, refused)
	require.NotZero(t, throttled.Load())
	require.Less(t, requests, 3*objects)
}

// planMany plans new ConfigMaps, and returns how many requests that took and how many were refused because there were
// too many.
func planMany(t *testing.T, planner *ssaplan.Planner, n int) (requests, refused int) {
	t.Helper()
	var all []ssaplan.Request
	for i := range n {
		all = append(all, ssaplan.Request{Manifest: lab.Objectf(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: many-%d}}", i)})
	}
	for plan, err := range planner.PlanAll(clock.With(t.Context(), &clock.Fake{LongestSleep: patience}), all) {
		if err != nil {
			require.Equal(t, authresilience.ClassThrottled, authresilience.Classify(err), err)
			refused++
			continue
		}
		require.Equal(t, ssaplan.ActionCreate, plan.Action)
		requests += plan.Requests
	}
	return requests, refused
}

// supply has the next plans made for the objects as they are now, without a read of their own; with nil they read
// again.
func (m *many) supply(t *testing.T) {
	live := map[string]*unstructured.Unstructured{}
	if t != nil {
		list, err := m.admin.CoreV1().ConfigMaps("default").List(t.Context(), metav1.ListOptions{})
		require.NoError(t, err)
		for _, item := range list.Items {
			content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&item)
			require.NoError(t, err)
			obj := &unstructured.Unstructured{Object: content}
			obj.SetAPIVersion("v1")
			obj.SetKind("ConfigMap")
			live[item.Name] = obj
		}
	}
	for i := range m.requests {
		m.requests[i].Live = live[m.requests[i].Manifest.GetName()]
	}
}

// applyUntilDone plans and applies all objects, and again those that were throttled too often.
func (m *many) applyUntilDone(t *testing.T) {
	all := m.requests
	for attempt := 1; len(m.requests) > 0; attempt++ {
		require.LessOrEqual(t, attempt, 20, "nobody is throttled for ever")
		plans, _ := m.planAll(t)
		left := map[string]bool{}
		for _, request := range m.requests {
			left[request.Manifest.GetName()] = true
		}
		m.applyAll(t, plans, func(o outcome) {
			if o.err != nil {
				requireConnectionError(t, o.err)
				return
			}
			delete(left, o.plan.Object.Name)
		})
		m.requests = nil
		for _, request := range all {
			if left[request.Manifest.GetName()] {
				m.requests = append(m.requests, request)
			}
		}
	}
	m.requests = all
}

// throttled is a transport that counts answers of 429 with Retry-After by the kind of request.
type throttled struct {
	next   http.RoundTripper
	mu     sync.Mutex
	counts map[string]int
}

func (c *throttled) RoundTrip(request *http.Request) (*http.Response, error) {
	answer, err := c.next.RoundTrip(request)
	if err == nil && answer.StatusCode == http.StatusTooManyRequests && answer.Header.Get("Retry-After") != "" {
		what := map[string]string{http.MethodGet: "get", http.MethodPatch: "apply"}[request.Method]
		if strings.Contains(request.URL.RawQuery, "dryRun=All") {
			what = "dry run"
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		c.counts[what]++
	}
	return answer, err
}

func (c *throttled) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.counts)
}

// each reports whether every one of these requests was throttled at least once. A get is so quick that a slow machine
// may need several rounds until two gets overlap.
func (c *throttled) each(requests ...string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !slices.ContainsFunc(requests, func(what string) bool { return c.counts[what] == 0 })
}

func (c *throttled) all() (sum int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, n := range c.counts {
		sum += n
	}
	return sum
}

func makeAdministrator(t *testing.T, server *controlplane.Server, user string) {
	c := lab.Connect(t, server.Config())
	c.Apply(t, "test", lab.Objectf(t, `{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: %[1]s},
		subjects: [{kind: User, apiGroup: rbac.authorization.k8s.io, name: %[1]s}],
		roleRef: {kind: ClusterRole, apiGroup: rbac.authorization.k8s.io, name: cluster-admin}}`, user))
	c.WaitAllowed(t, user, "patch", "configmaps")
}
