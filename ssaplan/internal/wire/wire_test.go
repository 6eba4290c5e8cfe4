package wire

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
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
	"github.com/ssaplan/primitives/ssaplan/server"
)

const (
	discovery = `{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"v1","resources":[` +
		`{"name":"configmaps","kind":"ConfigMap","namespaced":true},{"name":"nodes","kind":"Node"},` +
		`{"name":"nodes/status","kind":"NodeStatus"}]}`
	object     = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"n"},"data":{"k":"v"}}`
	throttled  = `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"TooManyRequests","code":429,"message":"slow down"}`
	boxes      = `{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"g.com/v1","resources":[{"name":"boxes","kind":"Box","namespaced":true}]}`
	definition = `{"kind":"CustomResourceDefinition","apiVersion":"apiextensions.k8s.io/v1","metadata":{"name":"boxes.g.com"},"spec":{"group":"g.com",` +
		`"versions":[{"name":"v1","subresources":{"scale":{"specReplicasPath":".spec.size"}}}]}}`
	forbidden = `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","code":403,` +
		`"message":"configmaps \\"a\\" is forbidden: User \\"u\\" cannot get resource \\"configmaps\\" in API group \\"\\" in the namespace \\"n\\""}`
	missing = `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404,"details":{"name":"a","kind":"configmaps"}}`
)

// failures are the answers that are errors.
var failures = map[string]int{
	throttled: http.StatusTooManyRequests, forbidden: http.StatusForbidden, missing: http.StatusNotFound,
}

var (
	configMap  = schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}
	configMaps = server.Kind{GroupVersionKind: configMap, Resource: "configmaps", Namespaced: true}
	a          = identity.Identity{APIVersion: "v1", Kind: "ConfigMap", Namespace: "n", Name: "a"}
)

// isQuestion reports whether a request asks if the server gets the dryRun of an apply.
func isQuestion(r *http.Request) bool {
	return r.Method == http.MethodPatch && slices.Contains(r.URL.Query()["dryRun"], "Unknown")
}

// answers is a transport that gives its answers in turn, the last one again and again, and notes the requests. It gets
// the dryRun of applies, unless they are asked for.
type answers struct {
	bodies   []string
	asked    bool
	requests []string
}

func (t *answers) RoundTrip(request *http.Request) (*http.Response, error) {
	if isQuestion(request) && !t.asked {
		return (&answers{bodies: []string{unknownDryRun}, asked: true}).RoundTrip(request)
	}
	t.requests = append(t.requests, request.Method+" "+request.URL.Path)
	body := t.bodies[min(len(t.requests), len(t.bodies))-1]
	status, isFailure := failures[body]
	if !isFailure {
		status = http.StatusOK
	}
	return &http.Response{
		StatusCode: status, Header: http.Header{"Content-Type": {"application/json"}}, Request: request,
		Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body)),
	}, nil
}

func connect(t *testing.T, transport *answers, options Options) *Server {
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
	transport := &answers{bodies: []string{discovery}}
	server := connect(t, transport, Options{})
	for range 2 {
		served, err := server.Find(t.Context(), configMap)
		require.NoError(t, err)
		require.Equal(t, configMaps, served)
		served, err = server.Find(t.Context(), schema.GroupVersionKind{Version: "v1", Kind: "Node"})
		require.NoError(t, err)
		require.False(t, served.Namespaced)
	}
	require.Equal(t, []string{"GET /api/v1"}, transport.requests)
	server.Forget(configMap.GroupVersion())
	_, err := server.Find(t.Context(), configMap)
	require.NoError(t, err)
	require.Len(t, transport.requests, 2)
}

func TestMissingKindsAreLookedForAgainUnlessRemembered(t *testing.T) {
	transport := &answers{bodies: []string{discovery}}
	server := connect(t, transport, Options{})
	for _, row := range []struct {
		why  string
		ctx  context.Context
		want int
	}{
		{"a kind is found as soon as it is served", t.Context(), 2},
		{"a set of objects asks once", RememberMissing(t.Context()), 1},
	} {
		transport.requests = nil
		for range 2 {
			_, err := server.Find(row.ctx, schema.GroupVersionKind{Version: "v1", Kind: "NodeStatus"})
			require.True(t, meta.IsNoMatchError(err), row.why)
		}
		assert.Len(t, transport.requests, row.want, row.why)
	}
}

func TestDiscoveryOfSomethingElse(t *testing.T) {
	_, err := connect(t, &answers{bodies: []string{object}}, Options{}).Find(t.Context(), configMap)
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
		server := connect(t, &answers{bodies: []string{throttled, object}}, Options{Observe: observe, Logger: logger, ThrottleRetries: row.retries})
		resource := server.Resource(configMaps, identity.Identity{Namespace: "n"})
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
	transport := &answers{bodies: []string{object}}
	resource := connect(t, transport, Options{}).Resource(configMaps, a)
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
	}, transport.requests)
}

// Only the answer to an apply right after a read can prove that nothing would be written.
func TestAnApplyThatRepeatsTheReadReturnsIt(t *testing.T) {
	other := strings.Replace(object, `"v"`, `"w"`, 1)
	transport := &answers{bodies: []string{object, object, object, object, other}}
	resource := connect(t, transport, Options{}).Resource(configMaps, a)
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

// TestScaleOfCustomResources checks that the definition is asked where the number of replicas is, and what is said if
// it can't be read.
func TestScaleOfCustomResources(t *testing.T) {
	box := identity.Identity{APIVersion: "g.com/v1", Kind: "Box", Namespace: "n", Name: "a"}
	const live = `{"apiVersion":"g.com/v1","kind":"Box","metadata":{"name":"a","namespace":"n","uid":"u","resourceVersion":"1"},` +
		`"spec":{"size":2,"replicas":7}}`
	for _, row := range []struct {
		why, definition, warning string
		replicas                 int
	}{
		{"the definition", definition, "", 2},
		{"who may not read it", forbidden, "the CRD can't be read", 7},
		{"a kind without one", missing, "the CRD can't be read", 7},
	} {
		transport := &answers{bodies: []string{boxes, row.definition, live}}
		target, err := connect(t, transport, Options{}).Locate(t.Context(), box, "scale", "")
		require.NoError(t, err, row.why)
		obj, err := target.Live(t.Context())
		require.NoError(t, err, row.why)
		require.EqualValues(t, map[string]any{"replicas": int64(row.replicas)}, obj.Object["spec"], row.why)
		require.Equal(t, 2, target.Requests(), row.why)
		require.Contains(t, transport.requests[1], "/customresourcedefinitions/boxes.g.com")
		require.Contains(t, fmt.Sprint(target.Warnings), row.warning)
		require.Equal(t, row.warning == "", len(target.Warnings) == 0, row.why)
	}
	_, err := connect(t, &answers{bodies: []string{boxes, throttled}}, Options{}).Locate(t.Context(), box, "scale", "")
	require.Error(t, err, "another failure")
	transport := &answers{bodies: []string{boxes}}
	_, err = connect(t, transport, Options{}).Locate(t.Context(), box, "status", "")
	require.NoError(t, err)
	require.Len(t, transport.requests, 1, "another subresource")
}
