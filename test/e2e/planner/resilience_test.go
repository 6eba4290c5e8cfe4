package planner_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"

	"github.com/ssaplan/primitives/authresilience"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/test/controlplane"
)

// token returns a token that no server accepts, because it isn't signed, with the claims of one that ends at a time.
func token(t *testing.T, end time.Time) string {
	claims, err := json.Marshal(map[string]any{"iss": "issuer", "exp": end.Unix(), "nbf": end.Add(-time.Hour).Unix()})
	require.NoError(t, err)
	encode := base64.RawURLEncoding.EncodeToString
	return encode([]byte(`{"alg":"RS256"}`)) + "." + encode(claims) + "." + encode([]byte("canary-signature"))
}

// withToken returns the way to the server with another credential.
func withToken(t *testing.T, token string) *rest.Config {
	config := rest.AnonymousClientConfig(controlplane.Shared(t).Config())
	config.BearerToken = token
	return config
}

func withCertificate(t *testing.T, user string, groups []string, notBefore, notAfter time.Time) *rest.Config {
	cert, key, err := controlplane.Shared(t).ClientCert(user, groups, notBefore, notAfter)
	require.NoError(t, err)
	config := rest.AnonymousClientConfig(controlplane.Shared(t).Config())
	config.CertData, config.KeyData = cert, key
	return config
}

func (c *cluster) plannerAs(t *testing.T, config *rest.Config, change func(*ssaplan.Options)) *ssaplan.Planner {
	options := ssaplan.Options{FieldManager: manager, DefaultNamespace: c.namespace}
	if change != nil {
		change(&options)
	}
	planner, err := ssaplan.New(config, options)
	require.NoError(t, err)
	return planner
}

// stored returns the state as it comes back from where a host keeps it.
func stored(t *testing.T, s *ssaplan.State) *ssaplan.State {
	text, err := json.Marshal(s)
	require.NoError(t, err)
	out := &ssaplan.State{}
	require.NoError(t, json.Unmarshal(text, out))
	return out
}

var admins = []string{"system:masters"}

// TestExpiredAtRefreshFreshAtPlan is the flow of a tool that refreshes with the credentials of its last run, and then
// plans and applies with those of this run.
func TestExpiredAtRefreshFreshAtPlan(t *testing.T) {
	c := newCluster(t)
	now := time.Now()
	expired := map[string]struct {
		config *rest.Config
		send   bool
		cause  string
	}{
		"a token that certainly expired is not sent": {withToken(t, token(t, now.Add(-3*time.Hour))), false, "expired 3 h ago"},
		"the same token, sent":                       {withToken(t, token(t, now.Add(-3*time.Hour))), true, "expired 3 h ago"},
		"a client certificate":                       {withCertificate(t, "jo", admins, now.Add(-2*time.Hour), now.Add(-time.Hour)), true, "expired 60 min ago"},
	}
	for why, test := range expired {
		for _, drifts := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, drifts: %t", why, drifts), func(t *testing.T) {
				m := manifest(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: refreshed-%d}, data: {a: A, b: B}}", time.Now().UnixNano())
				state := stored(t, c.apply(t, m))
				if drifts {
					c.foreign(t, m, `{"data":{"a":"theirs"}}`)
				}
				planner := c.plannerAs(t, test.config, func(o *ssaplan.Options) { o.SendExpired = test.send })
				reading, err := planner.Read(t.Context(), state)
				require.NoError(t, err)
				require.Equal(t, ssaplan.Unreadable, reading.Presence)
				require.Equal(t, state.Applied, reading.State.Applied)
				require.Equal(t, state.Observed, reading.State.Observed)
				require.Equal(t, authresilience.Authentication, reading.State.Stale.Reason)
				require.Contains(t, reading.Warning.String(), test.cause)
				require.NotContains(t, reading.Warning.String(), "canary")
				require.True(t, state.Stale.IsZero(), "the prior state is untouched")

				prior := stored(t, reading.State)
				require.False(t, prior.Stale.IsZero())
				plan := c.plan(t, ssaplan.Request{Manifest: m, Prior: prior})
				want := []string{}
				if drifts {
					want = []string{"replace data.a Drifted somebody"}
				}
				require.Equal(t, want, causes(plan))
				require.Equal(t, plan.Before.Object, plan.Baseline.Object, "a stale baseline is refreshed")

				_, err = c.planner.Apply(t.Context(), plan)
				require.NoError(t, err)
				reading, err = c.planner.Read(t.Context(), prior)
				require.NoError(t, err)
				require.True(t, reading.State.Stale.IsZero(), "a good read clears the mark")
				require.Empty(t, reading.Drift)
			})
		}
	}
}

func TestBaselineThatIsNotStaleIsUsedAsItIs(t *testing.T) {
	c := newCluster(t)
	m := manifest(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: baseline}, data: {a: A, b: B}}")
	state := stored(t, c.apply(t, m))
	c.foreign(t, m, `{"data":{"a":"theirs"}}`)
	plan := c.plan(t, ssaplan.Request{Manifest: m, Prior: state})
	require.Equal(t, state.Observed, plan.Baseline)
	require.Equal(t, map[string]any{"data": map[string]any{"a": "theirs", "b": "B"}}, plan.Before.Object)
}

func TestExpiredAtApplyIsAnError(t *testing.T) {
	c := newCluster(t)
	end := time.Now().Add(2 * time.Second).Truncate(time.Second)
	planner := c.plannerAs(t, withCertificate(t, "jo", admins, end.Add(-time.Hour), end), nil)
	m := manifest(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: late}, data: {a: A}}")
	plan, err := planner.Plan(t.Context(), ssaplan.Request{Manifest: m})
	require.NoError(t, err)
	time.Sleep(time.Until(end.Add(1100 * time.Millisecond)))
	_, err = planner.Apply(t.Context(), plan)
	require.Equal(t, authresilience.Authentication, authresilience.Classify(err))
	require.ErrorContains(t, err, "v1/ConfigMap "+c.namespace+"/late: apply: Unauthorized (the client certificate")
}

// TestExpiringMidway reads and applies many objects with a certificate that ends while that goes on.
func TestExpiringMidway(t *testing.T) {
	c := newCluster(t)
	var states []*ssaplan.State
	var manifests []*unstructured.Unstructured
	for i := range 20 {
		m := manifest(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: midway-%d}, data: {a: A}}", i)
		states = append(states, c.apply(t, m))
		set(m, "B", "data", "a")
		manifests = append(manifests, m)
	}
	end := time.Now().Add(2 * time.Second).Truncate(time.Second)
	planner := c.plannerAs(t, withCertificate(t, "jo", admins, end.Add(-time.Hour), end), nil)
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
		if reading.Presence == ssaplan.Present {
			read++
			continue
		}
		require.Equal(t, ssaplan.Unreadable, reading.Presence)
		require.Equal(t, state.Applied, reading.State.Applied)
		kept++
	}
	for _, plan := range plans[applied:] {
		_, err := planner.Apply(t.Context(), plan)
		require.Equal(t, authresilience.Authentication, authresilience.Classify(err))
		failed++
	}
	require.Equal(t, []int{10, 10, 1, 19}, []int{read, kept, applied, failed})
}

func TestWrongTokenIsNotCalledExpired(t *testing.T) {
	c := newCluster(t)
	m := manifest(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: wrong}, data: {a: A}}")
	state := c.apply(t, m)
	planner := c.plannerAs(t, withToken(t, token(t, time.Now().Add(time.Hour))), nil)
	reading, err := planner.Read(t.Context(), state)
	require.NoError(t, err)
	require.Equal(t, ssaplan.Unreadable, reading.Presence)
	require.Contains(t, reading.Warning.String(), "is not expired")
	require.Contains(t, reading.Warning.Next, "configuration")
}

func TestMissingRightIsKeptAtReadAndAnErrorAtWrite(t *testing.T) {
	c := newCluster(t)
	m := manifest(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: forbidden}, data: {a: A}}")
	state := c.apply(t, m)
	config, err := controlplane.Shared(t).ConfigFor("nobody")
	require.NoError(t, err)
	planner := c.plannerAs(t, config, nil)
	reading, err := planner.Read(t.Context(), state)
	require.NoError(t, err)
	require.Equal(t, ssaplan.Unreadable, reading.Presence)
	require.Equal(t, authresilience.Authorization, reading.State.Stale.Reason)
	require.Contains(t, reading.Warning.Next, `get resource "configmaps"`)

	_, err = planner.Plan(t.Context(), ssaplan.Request{Manifest: m})
	require.Equal(t, authresilience.Authorization, authresilience.Classify(err))
	set(m, "B", "data", "a")
	_, err = planner.Apply(t.Context(), c.plan(t, ssaplan.Request{Manifest: m}))
	require.Equal(t, authresilience.Authorization, authresilience.Classify(err), "a plan carries no rights")
	require.ErrorContains(t, err, "cannot patch")
}
