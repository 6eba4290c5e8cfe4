package authresilience_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/authresilience"
	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/explain"
	"github.com/ssaplan/primitives/test/e2e/authresilience/faultproxy"
	"github.com/ssaplan/primitives/test/lab"
)

// plannerFaults are all faults: other than a client, the Planner has to notice an answer that isn't the object.
var plannerFaults = append(faultproxy.Faults(), faultproxy.SuccessfulStatus())

// isPlayed reports whether a run has a fault in a request, given the numbers of both: a third of them, each day another
// one, or all with FAULTS=all.
func isPlayed(fault, request int) bool {
	return os.Getenv("FAULTS") == "all" || lab.Today(fault+request, 3)
}

// TestPlannerFaults spoils each request of Read, Plan and Apply in each way, in a run with FAULTS=all. Whatever
// happens, a read loses no state, a failed plan writes nothing, an apply that reports success has written, and no
// secret is in any text.
func TestPlannerFaults(t *testing.T) {
	f := &faulty{flow: newFlow(t, "planner-faults")}
	var (
		mu       sync.Mutex
		outcomes []outcome
	)
	t.Run("group", func(t *testing.T) { // ends when the parallel tests have
		for i, fault := range plannerFaults {
			t.Run(fault.String(), func(t *testing.T) {
				t.Parallel()
				found := f.spoilPlanner(t, i, fmt.Sprintf("x%d", i))
				mu.Lock()
				defer mu.Unlock()
				outcomes = append(outcomes, found...)
			})
		}
	})
	slices.SortStableFunc(outcomes, func(a, b outcome) int { return strings.Compare(a.fault, b.fault) })
	t.Logf("\n%s%d faults in %d requests; state lost: %d; secrets found in any text: %d",
		tableOf(outcomes), len(plannerFaults), len(outcomes), f.lost.Load(), f.leaked.Load())
	assert.Zero(t, f.lost.Load())
	assert.Zero(t, f.leaked.Load())
}

// faulty counts what must not happen.
type faulty struct {
	*flow
	lost, leaked atomic.Int64
}

// attempt is one operation of a host, with an object of its own.
type attempt struct {
	*faulty
	fault    faultproxy.Fault
	proxy    *faultproxy.Proxy
	planner  *ssaplan.Planner
	manifest *unstructured.Unstructured
	state    *explain.State
	plan     *ssaplan.Plan
}

// spoilPlanner lets each request of each operation have the fault, and returns what came of it. Discovery's requests
// are among them: each operation starts with a Planner that knows nothing of the server.
func (f *faulty) spoilPlanner(t *testing.T, number int, name string) []outcome {
	fault := plannerFaults[number]
	proxy := faultproxy.Start(t, f.Config)
	config := proxy.Client(f.fresh)
	config.Timeout = patience(fault)
	operations := []struct {
		name string
		run  func(*attempt, *testing.T) (authresilience.Class, string)
	}{{"Read", (*attempt).read}, {"Plan", (*attempt).makePlan}, {"Apply", (*attempt).apply}}
	var outcomes []outcome
	for _, op := range operations {
		for n := 1; ; n++ {
			if !isPlayed(number, n) {
				continue
			}
			proxy.Heal()
			a := f.attempt(t, fault, name)
			a.planner = f.planner(t, config)
			a.proxy = proxy
			proxy.Inject(n, fault)
			class, result := op.run(a, t)
			request, ok := proxy.Spoiled()
			if !ok && class == authresilience.ClassTimeout { // the machine is slow: the request came too late
				config.Timeout *= 2
				require.Less(t, config.Timeout, lab.Patience, "every request times out")
				n--
				continue
			}
			if !ok {
				require.Greater(t, n, 1, "nothing was spoiled")
				require.Equal(t, authresilience.ClassNone, class, "without a fault")
				break
			}
			outcomes = append(outcomes, outcome{fault.String(), op.name, request.String(), class, result})
		}
	}
	return outcomes
}

// attempt applies an object, lets it drift, and plans to correct that.
func (f *faulty) attempt(t *testing.T, fault faultproxy.Fault, name string) *attempt {
	t.Helper()
	ctx := context.Background()
	a := &attempt{faulty: f, fault: fault, manifest: f.manifest.DeepCopy()}
	a.manifest.SetName(name)
	healthy := f.planner(t, f.Config)
	plan, err := healthy.Plan(ctx, ssaplan.Request{Manifest: a.manifest})
	require.NoError(t, err)
	obj, err := healthy.Apply(ctx, plan)
	require.NoError(t, err)
	a.state, err = explain.NewState(nil, obj.Object, fieldowner.Applier{Manager: manager}, nil)
	require.NoError(t, err)
	f.driftOf(t, name)
	a.plan, err = healthy.Plan(ctx, ssaplan.Request{Manifest: a.manifest, Prior: a.state})
	require.NoError(t, err)
	require.Equal(t, ssaplan.ActionUpdate, a.plan.Action)
	return a
}

func (a *attempt) read(t *testing.T) (authresilience.Class, string) {
	before := asJSON(t, a.state)
	reading, err := a.planner.Read(context.Background(), a.state)
	assert.Equal(t, before, asJSON(t, a.state), "the prior state isn't touched")
	if err != nil {
		class := authresilience.Classify(err)
		assert.False(t, class.Degradable(), "%s is survived", class)
		a.clean(t, textsOf(err)...)
		return class, "failed, state kept"
	}
	a.clean(t, fmt.Sprintf("%+v", reading), asJSON(t, reading.State))
	class, result := authresilience.ClassNone, "says "+string(reading.Presence)
	switch reading.Presence {
	case ssaplan.PresenceFound:
		return class, "refreshed"
	case ssaplan.PresenceUnreadable:
		class, result = reading.State.Stale.Reason, "degraded, state kept and stale"
		a.clean(t, reading.Warning.String())
	default:
		a.assertForged(t, result)
	}
	if reading.State == nil || before != asJSON(t, unmarked(reading.State)) {
		a.lost.Add(1)
	}
	return class, result
}

// assertForged demands that a wrong result comes from a proxy that answers, as an API server would, that the object
// doesn't exist. No client can distinguish such an answer from a true one. A forged answer to discovery can hide a
// type, but nothing follows from that for the object.
func (a *attempt) assertForged(t *testing.T, result string) {
	request, _ := a.proxy.Spoiled()
	if discovery := !strings.Contains(request.URI, "/configmaps/"); discovery {
		assert.Equal(t, "says TypeNotServed", result)
		return
	}
	assert.Equal(t, "404 Status: says Absent", a.fault.String()+": "+result)
}

func (a *attempt) makePlan(t *testing.T) (authresilience.Class, string) {
	before := a.liveOf(t, a.manifest.GetName()).GetResourceVersion()
	plan, err := a.planner.Plan(context.Background(), ssaplan.Request{Manifest: a.manifest, Prior: a.state})
	assert.Equal(t, before, a.liveOf(t, a.manifest.GetName()).GetResourceVersion(), "planning wrote")
	if err != nil {
		a.clean(t, textsOf(err)...)
		return authresilience.Classify(err), "failed"
	}
	a.clean(t, fmt.Sprintf("%v %+v %#v", plan, plan, plan), asJSON(t, plan))
	request, _ := a.proxy.Spoiled()
	switch plan.Deferral {
	case ssaplan.DeferralUnreadable:
		assert.Equal(t, authresilience.ClassAuthorization, faultClasses[a.fault.String()].request)
		return authresilience.ClassAuthorization, "deferred: " + string(plan.Deferral)
	case ssaplan.DeferralTypeNotServed:
		assert.NotContains(t, request.URI, "/configmaps/", "the type is served")
		return authresilience.ClassTypeNotServed, "deferred: " + string(plan.Deferral)
	}
	assert.Equal(t, ssaplan.ActionUpdate, plan.Action)
	assert.Len(t, plan.Changes, 1)
	return authresilience.ClassNone, "planned"
}

func (a *attempt) apply(t *testing.T) (authresilience.Class, string) {
	obj, err := a.planner.Apply(context.Background(), a.plan)
	live := a.liveOf(t, a.manifest.GetName())
	value, _, _ := unstructured.NestedString(live.Object, "data", "a")
	written := value == "1"
	if err == nil {
		assert.True(t, written, "success is reported, but nothing was written")
		assert.Equal(t, live, obj)
		return authresilience.ClassNone, "applied"
	}
	a.clean(t, textsOf(err)...)
	if written { // only where the answer was spoiled, not the request
		assert.Contains(t, []string{"truncated body", "leader change", "wrong content type"}, a.fault.String())
		return authresilience.Classify(err), "failed, but written"
	}
	return authresilience.Classify(err), "failed, not written"
}

func textsOf(err error) []string {
	return []string{err.Error(), fmt.Sprintf("%+v", err), fmt.Sprintf("%#v", err), fmt.Sprintf("%q", err)}
}

// clean looks for the token in texts.
func (a *attempt) clean(t *testing.T, texts ...string) {
	for _, secret := range secretsOf(t, a.withToken(a.fresh)) {
		for _, text := range texts {
			if strings.Contains(text, secret) {
				a.leaked.Add(1)
			}
		}
	}
}
