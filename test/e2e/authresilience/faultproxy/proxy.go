// Package faultproxy stands between a client and a real API server, on loopback, and spoils the answers that a test
// chooses. Everything else passes unchanged, so what a client makes of a fault can be compared with what is really in
// the cluster.
package faultproxy

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"sync"
	"testing"

	"k8s.io/client-go/rest"
)

// A Proxy forwards requests to an API server. Its methods may be used by several goroutines at once.
type Proxy struct {
	server   *httptest.Server
	upstream http.Handler

	mu       sync.Mutex
	requests []Request
	fault    *Fault
	spoils   func(n int) bool
	spoiled  *Request
}

// Request is a request that arrived.
type Request struct {
	Method string
	URI    string // path and query
}

// String is how a request begins: "GET /api/v1/namespaces/default/configmaps/x".
func (r Request) String() string { return r.Method + " " + r.URI }

// Start starts a proxy in front of the server that config leads to. Clients authenticate to that server through the
// proxy, with tokens; the credentials in config are not used.
func Start(t testing.TB, config *rest.Config) *Proxy {
	t.Helper()
	transport, err := rest.TransportFor(rest.AnonymousClientConfig(config))
	if err != nil {
		t.Fatal(err)
	}
	target, err := url.Parse(config.Host)
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{upstream: &httputil.ReverseProxy{
		Rewrite:   func(r *httputil.ProxyRequest) { r.SetURL(target) },
		Transport: transport,
	}}
	p.server = httptest.NewServer(p)
	t.Cleanup(func() {
		p.server.CloseClientConnections()
		p.server.Close()
	})
	return p
}

// Client returns the configuration of a client that reaches the server through the proxy with a bearer token.
func (p *Proxy) Client(token string) *rest.Config {
	return &rest.Config{Host: p.server.URL, BearerToken: token, QPS: -1}
}

// Inject spoils the n-th request from now on, counted from 1, and each repetition of it: client-go repeats some by
// itself. Requests counts anew.
func (p *Proxy) Inject(n int, fault Fault) {
	p.inject(fault, func(i int) bool { return i == n })
}

// InjectFrom spoils the n-th request from now on, counted from 1, and all that follow. Requests counts anew.
func (p *Proxy) InjectFrom(n int, fault Fault) {
	p.inject(fault, func(i int) bool { return i >= n })
}

func (p *Proxy) inject(fault Fault, spoils func(int) bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fault, p.spoils, p.spoiled, p.requests = &fault, spoils, nil, nil
}

// Heal spoils no more requests. Requests counts anew.
func (p *Proxy) Heal() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fault, p.spoiled, p.requests = nil, nil, nil
}

// Requests returns the requests since the last Inject or Heal. A repetition of the one before it isn't counted.
func (p *Proxy) Requests() []Request {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.requests)
}

// Spoiled reports which request was spoiled since the last Inject, if any.
func (p *Proxy) Spoiled() (Request, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.spoiled == nil {
		return Request{}, false
	}
	return *p.spoiled, true
}

// ServeHTTP implements [http.Handler].
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == loginPath {
		serveLogin(w)
		return
	}
	if fault := p.next(Request{r.Method, r.URL.RequestURI()}); fault != nil {
		fault.spoil(w, r, p.upstream)
		return
	}
	p.upstream.ServeHTTP(w, r)
}

// next counts a request and returns the fault that is meant for it.
func (p *Proxy) next(r Request) *Fault {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.requests) == 0 || p.requests[len(p.requests)-1] != r {
		p.requests = append(p.requests, r)
	}
	if p.fault == nil || !p.spoils(len(p.requests)) {
		return nil
	}
	p.spoiled = &r
	return p.fault
}

// Fault is a way to spoil an answer.
type Fault struct {
	Name  string
	spoil func(w http.ResponseWriter, r *http.Request, upstream http.Handler)
}

// String is the fault's name.
func (f Fault) String() string { return f.Name }

// answering is a fault that doesn't ask the server.
func answering(name string, handler http.HandlerFunc) Fault {
	return Fault{name, func(w http.ResponseWriter, r *http.Request, _ http.Handler) { handler(w, r) }}
}

// spoiling is a fault in the answer to a request that the server did process.
func spoiling(name string, spoil func(http.ResponseWriter, *httptest.ResponseRecorder)) Fault {
	return Fault{name, func(w http.ResponseWriter, r *http.Request, upstream http.Handler) {
		answer := httptest.NewRecorder()
		upstream.ServeHTTP(answer, r)
		spoil(w, answer)
	}}
}

// named puts a code in front of the name of a kind of answer.
func named(code int, kind string) string { return fmt.Sprintf("%d %s", code, kind) }
