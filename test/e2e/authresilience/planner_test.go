package authresilience_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/ssaplan/primitives/authresilience"
	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/explain"
	"github.com/ssaplan/primitives/test/e2e/authresilience/faultproxy"
	"github.com/ssaplan/primitives/test/lab"
)

const manager = "planner"

// flow is a host's object in a namespace of its own, with an account that may write it.
type flow struct {
	*fixture
	account  *corev1.ServiceAccount
	fresh    string // a token that is valid
	expired  string // one that isn't any more
	manifest *unstructured.Unstructured
	state    *explain.State // of the last apply
}

// newFlow applies a ConfigMap with two values.
func newFlow(t *testing.T, namespace string) *flow {
	t.Helper()
	f := &flow{fixture: newFixture(t)}
	namespace = f.newNamespace(t, namespace)
	f.account = f.fixture.account(t, namespace, "deployer")
	f.fresh = f.token(t, f.account, authenticationv1.TokenRequestSpec{})
	f.expired = f.signed(t, f.signer, f.account, time.Now().Add(-2*time.Hour), time.Now().Add(-time.Hour))
	f.manifest = lab.Object(t, fmt.Sprintf(`{apiVersion: v1, kind: ConfigMap, metadata: {name: x, namespace: %s}, data: {a: "1", b: "1"}}`, namespace))
	eventually(t, func() error { return newActor(t, f.withToken(f.fresh)).get(namespace) }, isClass(authresilience.ClassNotFound)) // RBAC
	f.state = f.applied(t, f.planner(t, f.withToken(f.fresh)))
	return f
}

func (f *flow) planner(t *testing.T, config *rest.Config, change ...func(*ssaplan.Options)) *ssaplan.Planner {
	t.Helper()
	options := ssaplan.Options{FieldManager: manager, ThrottleRetries: -1}
	for _, c := range change {
		c(&options)
	}
	planner, err := lab.NewPlanner(config, options)
	require.NoError(t, err)
	return planner
}

// applied plans and applies the manifest, and returns what a host remembers, as it is after a restart.
func (f *flow) applied(t *testing.T, planner *ssaplan.Planner) *explain.State {
	t.Helper()
	plan, err := planner.Plan(context.Background(), ssaplan.Request{Manifest: f.manifest, Prior: f.state})
	require.NoError(t, err)
	obj, err := planner.Apply(context.Background(), plan)
	require.NoError(t, err)
	state, err := explain.NewState(nil, obj.Object, fieldowner.Applier{Manager: manager}, nil)
	require.NoError(t, err)
	return stored(t, state)
}

// stored returns the state as a host reads it after a restart.
func stored(t *testing.T, state *explain.State) *explain.State {
	t.Helper()
	data, err := json.Marshal(state)
	require.NoError(t, err)
	var read explain.State
	require.NoError(t, json.Unmarshal(data, &read))
	return &read
}

// drift changes a value behind the host's back.
func (f *flow) drift(t *testing.T) {
	t.Helper()
	f.driftOf(t, "x")
}

func (f *flow) driftOf(t *testing.T, name string) {
	t.Helper()
	_, err := f.Client.Resource(configMaps).Namespace(f.Namespace).Patch(context.Background(), name, types.MergePatchType,
		[]byte(`{"data":{"a":"drifted"}}`), metav1.PatchOptions{FieldManager: "somebody"})
	require.NoError(t, err)
}

// live returns the object as it is.
func (f *flow) live(t *testing.T) *unstructured.Unstructured {
	t.Helper()
	return f.liveOf(t, "x")
}

func (f *flow) liveOf(t *testing.T, name string) *unstructured.Unstructured {
	t.Helper()
	obj, err := f.Client.Resource(configMaps).Namespace(f.Namespace).Get(context.Background(), name, metav1.GetOptions{})
	require.NoError(t, err)
	return obj
}

// assertKept demands that a read was survived: the prior state is there, marked, and a warning with it.
func (f *flow) assertKept(t *testing.T, config *rest.Config, reading *ssaplan.Reading, err error, reason authresilience.Class) {
	t.Helper()
	require.NoError(t, err)
	require.Equal(t, ssaplan.PresenceUnreadable, reading.Presence)
	require.NotNil(t, reading.Warning)
	assert.Equal(t, reason, reading.State.Stale.Reason)
	assert.True(t, f.state.Stale.IsZero(), "the prior state isn't touched")
	assert.JSONEq(t, asJSON(t, f.state), asJSON(t, unmarked(reading.State)))
	assertClean(t, config, reading.Warning.String(), fmt.Sprintf("%+v %#v", reading, reading), asJSON(t, reading.State))
	t.Log(reading.Warning)
}

func unmarked(state *explain.State) *explain.State {
	copied := *state
	copied.Stale = authresilience.Stale{}
	return &copied
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	require.NoError(t, err)
	return string(data)
}

// Flow 1: the token of the last run expired, so the refresh keeps the state; the plan has a fresh one, refreshes the
// baseline by itself and finds what drifted.
func TestFlowExpiredAtRefresh(t *testing.T) {
	for _, sent := range []bool{false, true} {
		t.Run(fmt.Sprintf("sent %t", sent), func(t *testing.T) {
			f := newFlow(t, fmt.Sprintf("flow-refresh-%t", sent))
			proxy := faultproxy.Start(t, f.Config)
			config := proxy.Client(f.expired)
			f.drift(t)
			reading, err := f.planner(t, config, func(o *ssaplan.Options) { o.SendExpired = sent }).Read(context.Background(), f.state)
			f.assertKept(t, config, reading, err, authresilience.ClassAuthentication)
			assert.Contains(t, reading.Warning.Cause, "expired 60 min ago")
			assert.Equal(t, "renew the bearer token", reading.Warning.Next)
			assert.Equal(t, sent, len(proxy.Requests()) > 0, "what can only fail is not sent: %v", proxy.Requests())

			fresh := f.planner(t, f.withToken(f.fresh))
			plan, err := fresh.Plan(context.Background(), ssaplan.Request{Manifest: f.manifest, Prior: stored(t, reading.State)})
			require.NoError(t, err)
			require.Equal(t, ssaplan.ActionUpdate, plan.Action)
			require.Len(t, plan.Changes, 1)
			assert.Equal(t, explain.CauseDrifted, plan.Changes[0].Cause)
			assert.Equal(t, "data.a", plan.Changes[0].Path.String())
			assert.Contains(t, fmt.Sprint(plan.Baseline.Object), "drifted", "a stale baseline is refreshed from the planner's own read")

			// Flow 2: and then it is applied; the next good read clears the mark.
			_, err = fresh.Apply(context.Background(), plan)
			require.NoError(t, err)
			reading, err = fresh.Read(context.Background(), stored(t, reading.State))
			require.NoError(t, err)
			assert.Equal(t, ssaplan.PresenceFound, reading.Presence)
			assert.True(t, reading.State.Stale.IsZero())
			assert.Empty(t, reading.Drift)
		})
	}
}

// A stale state is no drift, and a state that isn't stale is the baseline as it is.
func TestFlowNoFalseDrift(t *testing.T) {
	f := newFlow(t, "flow-no-drift")
	reading, err := f.planner(t, f.withToken(f.expired)).Read(context.Background(), f.state)
	f.assertKept(t, f.withToken(f.expired), reading, err, authresilience.ClassAuthentication)
	fresh := f.planner(t, f.withToken(f.fresh))
	plan, err := fresh.Plan(context.Background(), ssaplan.Request{Manifest: f.manifest, Prior: stored(t, reading.State)})
	require.NoError(t, err)
	assert.Equal(t, ssaplan.ActionNoOp, plan.Action)

	f.drift(t)
	plan, err = fresh.Plan(context.Background(), ssaplan.Request{Manifest: f.manifest, Prior: f.state})
	require.NoError(t, err)
	assert.NotContains(t, fmt.Sprint(plan.Baseline.Object), "drifted", "the last refresh did not see it")
}

// Flow 3: what expires before the apply is an error, and nothing is written.
func TestFlowExpiredAtApply(t *testing.T) {
	f := newFlow(t, "flow-apply")
	f.drift(t)
	plan, err := f.planner(t, f.withToken(f.fresh)).Plan(context.Background(), ssaplan.Request{Manifest: f.manifest, Prior: f.state})
	require.NoError(t, err)
	before := f.live(t).GetResourceVersion()
	config := f.withToken(f.expired)
	for _, sent := range []bool{false, true} {
		late := f.planner(t, config, func(o *ssaplan.Options) { o.SendExpired = sent })
		_, err = late.Apply(context.Background(), plan)
		require.Error(t, err)
		assert.Equal(t, authresilience.ClassAuthentication, authresilience.Classify(err))
		assert.ErrorContains(t, err, "expired 60 min ago")
		assertClean(t, config, err.Error(), fmt.Sprintf("%+v %#v", err, err))
		_, err = late.Plan(context.Background(), ssaplan.Request{Manifest: f.manifest, Prior: f.state})
		require.Error(t, err, "planning isn't refreshing")
		assert.Equal(t, authresilience.ClassAuthentication, authresilience.Classify(err))
	}
	assert.Equal(t, before, f.live(t).GetResourceVersion())
}

// Flow 4: credentials that end midway. Each read that comes too late keeps its state; each write fails.
func TestFlowExpiredMidway(t *testing.T) {
	f := newFlow(t, "flow-midway")
	proxy := faultproxy.Start(t, f.Config)
	config := proxy.Client(f.fresh)
	planner := f.planner(t, config)
	_, err := planner.Plan(context.Background(), ssaplan.Request{Manifest: f.manifest}) // so that discovery is done
	require.NoError(t, err)

	const objects, good = 10, 4
	proxy.InjectFrom(2*good+1, faultproxy.Status(401)) // the same request again isn't counted, so a plan's dry run comes between
	kept := 0
	for i := range objects {
		reading, err := planner.Read(context.Background(), f.state)
		require.NoError(t, err)
		if reading.Presence == ssaplan.PresenceUnreadable {
			kept++
			f.assertKept(t, config, reading, err, authresilience.ClassAuthentication)
			assert.Contains(t, reading.Warning.Cause, "is not expired", "by what it says about itself")
		}
		_, err = planner.Plan(context.Background(), ssaplan.Request{Manifest: f.manifest, Live: f.live(t)})
		assert.Equal(t, i >= good, err != nil, "%v", err)
	}
	assert.Equal(t, objects-good, kept)
}

// Flow 5: RBAC. A read that isn't allowed keeps the state, a write that isn't allowed fails.
func TestFlowRBAC(t *testing.T) {
	f := newFlow(t, "flow-rbac")
	f.grant(t, f.Namespace, "reader", "{kind: User, name: flow-reader}", "get")
	f.grant(t, f.Namespace, "writer", "{kind: User, name: flow-writer}", "patch")
	f.drift(t)
	before := f.live(t).GetResourceVersion()
	reader, writer, stranger := f.user(t, "flow-reader"), f.user(t, "flow-writer"), f.user(t, "flow-stranger")
	eventually(t, func() error { return reader.get(f.Namespace) }, isClass(authresilience.ClassNone))
	eventually(t, func() error { return writer.patch(f.Namespace, "All") }, func(err error) bool {
		return authresilience.Classify(err) != authresilience.ClassAuthorization
	})

	for _, who := range []actor{writer, stranger} {
		reading, err := f.planner(t, who.Config).Read(context.Background(), f.state)
		f.assertKept(t, who.Config, reading, err, authresilience.ClassAuthorization)
		assert.Contains(t, reading.Warning.Cause, `cannot get resource "configmaps"`)
		assert.Contains(t, reading.Warning.Next, `ask for the right to get resource "configmaps"`)
	}
	reading, err := f.planner(t, reader.Config).Read(context.Background(), f.state)
	require.NoError(t, err)
	assert.Equal(t, ssaplan.PresenceFound, reading.Presence)
	assert.Len(t, reading.Drift, 1)
	for _, who := range []actor{reader, stranger} {
		_, err = f.planner(t, who.Config).Plan(context.Background(), ssaplan.Request{Manifest: f.manifest, Prior: f.state})
		assert.Equal(t, authresilience.ClassAuthorization, authresilience.Classify(err), "%v", err)
	}
	plan, err := f.planner(t, f.withToken(f.fresh)).Plan(context.Background(), ssaplan.Request{Manifest: f.manifest, Prior: f.state})
	require.NoError(t, err)
	_, err = f.planner(t, reader.Config).Apply(context.Background(), plan)
	assert.Equal(t, authresilience.ClassAuthorization, authresilience.Classify(err), "%v", err)
	assert.Equal(t, before, f.live(t).GetResourceVersion())
}
