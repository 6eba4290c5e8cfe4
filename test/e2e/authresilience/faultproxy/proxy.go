// Package faultproxy stands between a client and a real API server, on loopback, and spoils the answers that a test
// chooses. Everything else passes unchanged, so what a client makes of a fault can be compared with what is really in
// the cluster.
package faultproxy

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"k8s.io/client-go/rest"
)

// A Proxy forwards requests to an API server. Its methods may be used by several goroutines at once.
type Proxy struct {
	server    *httptest.Server
	upstream  http.Handler
	authority *tls.Certificate                // of a proxy that was started securely
	served    atomic.Pointer[tls.Certificate] // its certificate of now
	isHTTP2   atomic.Bool                     // the last request came by HTTP/2

	mu       sync.Mutex
	requests []Request
	writes   int // that arrived
	written  int // that the server answered with success
	fault    *Fault
	faults   map[int]Fault
	spoils   func(n, write int, r Request) bool
	spoiled  *Request
	held     func()      // sends a request that is late, nil if there is none
	isDue    func() bool // reports whether it is time to send it
}

// Request is a request that arrived.
type Request struct {
	Method   string
	URI      string // path and query
	Write    bool   // it is to change something, and is no dry run
	Question bool   // it has a dryRun that no server knows
}

// String is how a request begins: "GET /api/v1/namespaces/default/configmaps/x".
func (r Request) String() string { return r.Method + " " + r.URI }

// Start starts a proxy in front of the server that config leads to. Clients authenticate to that server through the
// proxy, with tokens; the credentials in config are not used.
func Start(t testing.TB, config *rest.Config) *Proxy {
	t.Helper()
	return StartAs(t, rest.AnonymousClientConfig(config))
}

// StartAs starts a proxy whose requests have the credentials of config.
func StartAs(t testing.TB, config *rest.Config) *Proxy {
	t.Helper()
	p := newProxy(t, config)
	p.server = httptest.NewServer(p)
	t.Cleanup(p.close)
	return p
}

// newProxy returns a proxy without its server.
func newProxy(t testing.TB, config *rest.Config) *Proxy {
	t.Helper()
	transport, err := rest.TransportFor(config)
	if err != nil {
		t.Fatal(err)
	}
	target, err := url.Parse(config.Host)
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{}
	p.upstream = &httputil.ReverseProxy{
		Rewrite:        func(r *httputil.ProxyRequest) { r.SetURL(target) },
		Transport:      transport,
		ModifyResponse: p.count,
		ErrorLog:       log.New(io.Discard, "", 0),
	}
	return p
}

func (p *Proxy) close() {
	p.server.CloseClientConnections()
	p.server.Close()
}

// Client returns the configuration of a client that reaches the server through the proxy with a bearer token.
func (p *Proxy) Client(token string) *rest.Config {
	config := &rest.Config{Host: p.server.URL, BearerToken: token, QPS: -1}
	if p.authority != nil {
		config.CAData = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: p.authority.Certificate[0]})
	}
	return config
}

// Inject spoils the n-th request from now on, counted from 1, and each retry of it by client-go. It resets Requests.
func (p *Proxy) Inject(n int, fault Fault) {
	p.inject(fault, func(i, _ int, _ Request) bool { return i == n })
}

// InjectWrite spoils the n-th write from now on, counted from 1. Dry runs don't count. It resets Requests.
func (p *Proxy) InjectWrite(n int, fault Fault) {
	p.inject(fault, func(_, write int, r Request) bool { return r.Write && write == n })
}

// InjectAt spoils requests by their number from now on, counted from 1. It resets Requests.
func (p *Proxy) InjectAt(faults map[int]Fault) {
	p.Heal()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.faults = faults
}

// InjectReads spoils the reads of objects from now on, and no others. It resets Requests.
func (p *Proxy) InjectReads(fault Fault) {
	p.inject(fault, func(_, _ int, r Request) bool {
		return r.Method == http.MethodGet && strings.Contains(r.URI, "/namespaces/")
	})
}

// InjectLists spoils each list of a resource, such as configmaps, from now on, and nothing else. It resets Requests.
func (p *Proxy) InjectLists(resource string, fault Fault) {
	p.inject(fault, func(_, _ int, r Request) bool {
		path, _, _ := strings.Cut(r.URI, "?")
		return r.Method == http.MethodGet && strings.HasSuffix(path, "/"+resource)
	})
}

// InjectFrom spoils the n-th request from now on, counted from 1, and all later ones. It resets Requests.
func (p *Proxy) InjectFrom(n int, fault Fault) {
	p.inject(fault, func(i, _ int, _ Request) bool { return i >= n })
}

func (p *Proxy) inject(fault Fault, spoils func(n, write int, r Request) bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fault, p.faults, p.spoils, p.spoiled, p.requests, p.writes, p.written, p.held = &fault, nil, spoils, nil, nil, 0,
		0, nil
}

// Heal stops spoiling requests. It resets Requests.
func (p *Proxy) Heal() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fault, p.faults, p.spoiled, p.requests, p.writes, p.written, p.held = nil, nil, nil, nil, 0, 0, nil
}

// Writes returns how many writes arrived since the last Inject or Heal, and how many of them the server says it has
// done.
func (p *Proxy) Writes() (arrived, done int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.writes, p.written
}

// count counts the writes that the server says it has done.
func (p *Proxy) count(response *http.Response) error {
	if response.StatusCode < http.StatusMultipleChoices && isWrite(response.Request) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.written++
	}
	return nil
}

// isWrite reports whether a request is to change something, and leaves its body as it is.
func isWrite(r *http.Request) bool {
	if marked, ok := r.Context().Value(writeKey{}).(bool); ok {
		return marked
	}
	return r.Method != http.MethodGet && len(dryRunOf(r)) == 0
}

// dryRunOf returns the dryRun of a request, which that of a delete has in its body, and leaves the body as it is.
func dryRunOf(r *http.Request) []string {
	if r.Method != http.MethodDelete {
		return r.URL.Query()["dryRun"]
	}
	body, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	var options struct{ DryRun []string }
	_ = json.Unmarshal(body, &options) // what has none is no dry run
	return options.DryRun
}

type writeKey struct{}

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
	p.isHTTP2.Store(r.ProtoMajor == 2)
	p.overdue()()
	write := isWrite(r)
	r = r.WithContext(context.WithValue(r.Context(), writeKey{}, write))
	if fault := p.next(Request{r.Method, r.URL.RequestURI(), write,
		slices.Contains(dryRunOf(r), "Unknown")}); fault != nil {
		fault.spoil(w, r, p.upstream)
		return
	}
	p.upstream.ServeHTTP(w, r)
}

// hold keeps a request back until it is due.
func (p *Proxy) hold(isDue func() bool, send func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.held, p.isDue = sync.OnceFunc(send), isDue
}

// overdue returns what sends the request that is held, if it is time for it, or does nothing.
func (p *Proxy) overdue() func() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.held != nil && p.isDue() {
		return p.held
	}
	return func() {}
}

// next counts a request and returns the fault that is meant for it.
func (p *Proxy) next(r Request) *Fault {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.requests) == 0 || p.requests[len(p.requests)-1] != r {
		p.requests = append(p.requests, r)
	}
	if r.Write {
		p.writes++
	}
	if fault, ok := p.faults[len(p.requests)]; ok {
		p.spoiled = &r
		return &fault
	}
	if p.fault == nil || !p.spoils(len(p.requests), p.writes, r) {
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
