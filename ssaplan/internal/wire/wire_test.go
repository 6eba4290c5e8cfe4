package wire

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/ssaplan/primitives/authresilience"
	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/internal/clock"
	"github.com/ssaplan/primitives/ssaplan/client"
	"github.com/ssaplan/primitives/ssaplan/internal/wiretest"
	"github.com/ssaplan/primitives/ssaplan/server"
)

func connect(t *testing.T, transport *wiretest.Answers, options Options) *Server {
	options.ThrottleRetries = cmp.Or(options.ThrottleRetries, -1) // a second each
	server, err := dial(&rest.Config{Host: "http://recorded", Transport: transport}, options)
	require.NoError(t, err)
	return server
}

// dial returns the server of a config, with the client of package client.
func dial(config *rest.Config, options Options) (*Server, error) {
	api, err := client.New(config, client.Options{})
	if err != nil {
		return nil, err
	}
	return New(api, options), nil
}

func TestKindsAreLookedUpOnce(t *testing.T) {
	transport := &wiretest.Answers{Bodies: []string{wiretest.Discovery}}
	server := connect(t, transport, Options{})
	for range 2 {
		served, err := server.Find(t.Context(), wiretest.ConfigMap)
		require.NoError(t, err)
		require.Equal(t, wiretest.ConfigMaps, served)
		served, err = server.Find(t.Context(), schema.GroupVersionKind{Version: "v1", Kind: "Node"})
		require.NoError(t, err)
		require.False(t, served.Namespaced)
	}
	require.Equal(t, []string{"GET /api/v1"}, transport.Requests)
	server.Forget(wiretest.ConfigMap.GroupVersion())
	_, err := server.Find(t.Context(), wiretest.ConfigMap)
	require.NoError(t, err)
	require.Len(t, transport.Requests, 2)
}

func TestMissingKindsAreLookedForAgainUnlessRemembered(t *testing.T) {
	transport := &wiretest.Answers{Bodies: []string{wiretest.Discovery}}
	server := connect(t, transport, Options{})
	for _, row := range []struct {
		why  string
		ctx  context.Context
		want int
	}{
		{"a kind is found as soon as it is served", t.Context(), 2},
		{"a set of objects asks once", RememberMissing(t.Context()), 1},
	} {
		transport.Requests = nil
		for range 2 {
			_, err := server.Find(row.ctx, schema.GroupVersionKind{Version: "v1", Kind: "NodeStatus"})
			require.True(t, meta.IsNoMatchError(err), row.why)
		}
		assert.Len(t, transport.Requests, row.want, row.why)
	}
}

func TestDiscoveryOfSomethingElse(t *testing.T) {
	_, err := connect(t, &wiretest.Answers{Bodies: []string{wiretest.Object}}, Options{}).Find(t.Context(), wiretest.ConfigMap)
	require.Error(t, err)
	require.False(t, meta.IsNoMatchError(err), "a wrong address doesn't mean that the kind is missing: %v", err)
}

func TestThrottledRequestsAreRepeatedAndCounted(t *testing.T) {
	for _, row := range []struct {
		retries, want int
		fails         bool
		why           string
	}{
		{-1, 1, true, "nothing is repeated if the host says so"},
		{1, 2, false, "the second answer counts"},
	} {
		var seen []string
		var log bytes.Buffer
		logger := slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
		observe := func(_ context.Context, o server.Observation) {
			failed := o.Class != authresilience.ClassNone
			seen = append(seen, fmt.Sprintln(o.Verb, o.DryRun, o.Object.Name, o.Status, failed, o.Sent))
			assert.Positive(t, o.Received)
		}
		server := connect(t, &wiretest.Answers{Bodies: []string{wiretest.Throttled, wiretest.Object}}, Options{Observe: observe, Logger: logger, ThrottleRetries: row.retries})
		resource := server.Resource(wiretest.ConfigMaps, identity.Identity{Namespace: "n"})
		dryRun := metav1.PatchOptions{DryRun: []string{metav1.DryRunAll}}
		ctx := clock.With(t.Context(), &clock.Fake{LongestSleep: time.Nanosecond})
		_, err := resource.Apply(ctx, "a", []byte(`{}`), dryRun)
		require.Equal(t, row.fails, err != nil, row.why)
		require.Equal(t, row.want, resource.Requests(), row.why)
		require.Contains(t, seen[0], "patch true a 422 true", "whether it gets dryRun")
		require.Equal(t, []string{"patch true a 429 true 2\n", "patch true a 200 false 2\n"}[:row.want], seen[1:], row.why)
		require.Equal(t, row.want+1, strings.Count(log.String(), "verb=patch"), row.why)
	}
}

func TestRequestsBesideCount(t *testing.T) {
	transport := &wiretest.Answers{Bodies: []string{wiretest.Object}}
	resource := connect(t, transport, Options{}).Resource(wiretest.ConfigMaps, wiretest.A)
	_, err := resource.Get(t.Context(), "a", metav1.GetOptions{})
	require.NoError(t, err)
	_, err = resource.IPAddresses().Get(t.Context(), "10.0.0.1", metav1.GetOptions{})
	require.NoError(t, err)
	_, err = resource.Definitions().Get(t.Context(), "b.g", metav1.GetOptions{})
	require.NoError(t, err)
	require.Equal(t, 3, resource.Requests())
	require.Equal(t, []string{
		"GET /api/v1/namespaces/n/configmaps/a", "GET /apis/networking.k8s.io/v1/ipaddresses/10.0.0.1",
		"GET /apis/apiextensions.k8s.io/v1/customresourcedefinitions/b.g",
	}, transport.Requests)
}

// Only the answer to an apply right after a read can prove that nothing would be written.
func TestAnApplyThatRepeatsTheReadReturnsIt(t *testing.T) {
	other := strings.Replace(wiretest.Object, `"v"`, `"w"`, 1)
	transport := &wiretest.Answers{Bodies: []string{wiretest.Object, wiretest.Object, wiretest.Object, wiretest.Object, other}}
	resource := connect(t, transport, Options{}).Resource(wiretest.ConfigMaps, wiretest.A)
	apply := func() any {
		obj, err := resource.Apply(t.Context(), "a", []byte(`{}`), metav1.PatchOptions{})
		require.NoError(t, err)
		return obj
	}
	read, err := resource.Get(t.Context(), "a", metav1.GetOptions{})
	require.NoError(t, err)
	require.Same(t, read, apply(), "the same bytes")
	require.NotSame(t, read, apply(), "what was read is forgotten")
	read, err = resource.Get(t.Context(), "a", metav1.GetOptions{})
	require.NoError(t, err)
	require.NotEqual(t, read, apply(), "other bytes")
}
