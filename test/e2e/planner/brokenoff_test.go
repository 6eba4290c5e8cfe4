package planner_test

import (
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"

	"github.com/ssaplan/primitives/authresilience"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/test/lab"
)

// TestRequestsThatAreBrokenOffForOneObject plans objects whose requests can't be sent, because the name is too long,
// or whose streams are reset on the connection that the others share, as a server up to 1.36 does when a policy
// crashes its handler. That is an error of that object, and says nothing of the others.
func TestRequestsThatAreBrokenOffForOneObject(t *testing.T) {
	c := newCluster(t)
	config, resets := resetting(t, c.Config, "/configmaps/reset")
	planner, err := lab.NewPlanner(config, ssaplan.Options{FieldManager: manager, DefaultNamespace: c.Namespace})
	require.NoError(t, err)
	const text = "{apiVersion: v1, kind: ConfigMap, metadata: {name: '%s'}, data: {a: A}}"
	var requests []ssaplan.Request
	for _, letter := range []string{"a", "b"} {
		for _, name := range []string{strings.Repeat(letter, 1<<20), "reset-" + letter, "fine-" + letter} {
			requests = append(requests, ssaplan.Request{Manifest: manifest(t, text, name)})
		}
	}
	i := 0
	for plan, err := range planner.PlanAll(lab.Context(t), requests) {
		if i%3 == 2 {
			require.NoError(t, err)
			require.Equal(t, ssaplan.ActionCreate, plan.Action)
		} else {
			require.Equal(t, authresilience.ClassBrokenOff, authresilience.Classify(err), "number %d", i)
			require.ErrorContains(t, err, "(other requests are answered)")
		}
		i++
	}
	require.Len(t, requests, i)
	require.GreaterOrEqual(t, resets.Load(), int64(2))
}

// resetting returns the configuration of a client that reaches the server through a proxy, which resets the HTTP/2
// streams of requests whose path contains a text, and the number of these.
func resetting(t *testing.T, config *rest.Config, path string) (*rest.Config, *atomic.Int64) {
	t.Helper()
	target, err := url.Parse(config.Host)
	require.NoError(t, err)
	transport, err := rest.TransportFor(config)
	require.NoError(t, err)
	upstream := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }, Transport: transport, ErrorLog: log.New(io.Discard, "", 0),
	}
	resets := &atomic.Int64{}
	proxy := httptest.NewUnstartedServer(http.HandlerFunc(func(out http.ResponseWriter, in *http.Request) {
		if in.ProtoMajor == 2 && strings.Contains(in.URL.Path, path) {
			resets.Add(1)
			panic(http.ErrAbortHandler)
		}
		upstream.ServeHTTP(out, in)
	}))
	proxy.EnableHTTP2 = true
	proxy.Config.ErrorLog = log.New(io.Discard, "", 0)
	proxy.StartTLS()
	t.Cleanup(proxy.Close)
	return &rest.Config{Host: proxy.URL, TLSClientConfig: rest.TLSClientConfig{Insecure: true}}, resets
}
