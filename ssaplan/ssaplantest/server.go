package ssaplantest

import (
	"sync/atomic"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/dynamic"

	"github.com/ssaplan/primitives/ssaplan/dynclient"
	"github.com/ssaplan/primitives/ssaplan/server"
)

// Options adjust a [Server]. The zero value works.
type Options struct {
	// Kinds are custom kinds that are served from the start, in addition to the built-in kinds and
	// CustomResourceDefinition. Add more with [Server.Register], or by creating a CustomResourceDefinition. Default:
	// none.
	Kinds []Kind
	// Namespaces are more namespaces that exist from the start, in addition to default, kube-system, kube-public and
	// kube-node-lease.
	Namespaces []string
}

// Server is an API server in memory. It is safe for concurrent use. The zero value can't be used; see [NewServer].
type Server struct {
	cluster *cluster
	answers *answers
}

// NewServer returns a server that has only namespaces. It needn't be stopped. It is an error if a schema in
// options.Kinds is invalid.
func NewServer(options Options) (*Server, error) {
	cluster, err := newCluster()
	if err != nil {
		return nil, err
	}
	s := &Server{cluster, &answers{}}
	if err := s.Register(options.Kinds...); err != nil {
		return nil, err
	}
	for _, name := range append([]string{"default", "kube-system", "kube-public", "kube-node-lease"},
		options.Namespaces...) {
		cluster.addNamespace(name)
	}
	return s, nil
}

// Client returns a client of the server. It gives warnings to plans, as a client does whose config has a
// server.WarningHandler.
func (s *Server) Client() dynamic.Interface { return client{handler{s.cluster, s.answers}} }

// API returns the server for [ssaplan.New]. It is a [server.Lister] and [server.ObjectLister], and has no discovery. It
// passes servertest.Run.
func (s *Server) API() server.Server {
	return dynclient.New(s.Client(), s.Mapper(), dynclient.Options{})
}

// Mapper returns a mapper for the kinds that the server serves. It is never out of date.
func (s *Server) Mapper() meta.RESTMapper { return s.cluster.mapper }

// Register makes the server serve more custom kinds, or the same ones with other schemas. Existing objects aren't
// checked. The server then has a CustomResourceDefinition for each kind, except for kinds in the core group.
func (s *Server) Register(kinds ...Kind) error {
	s.cluster.mu.Lock()
	defer s.cluster.mu.Unlock()
	if err := s.cluster.register(kinds); err != nil {
		return err
	}
	for _, kind := range kinds {
		if err := s.cluster.define(kind); err != nil {
			return err
		}
	}
	return nil
}

// Answer makes the server call find before each request. If find returns an error, the client gets it as the answer; if
// it returns nil, the server handles the request. Functions are called in the order in which they were set. The
// returned function removes find again. find isn't called for a request with invalid options, which every server
// rejects. The Planner sends such a request to check that the dryRun parameter arrives.
//
// find may use the server's client, for example to change an object between two requests; it is then called for its own
// requests, too. It is called from the goroutines that send the requests.
func (s *Server) Answer(find func(Request) error) (stop func()) { return s.answers.add(find) }

// AnswerNext makes the server answer the next request with this verb with err. The verb is one of those in [Request],
// or apply for a server-side apply. Several errors for a verb are used in their order. A nil err has no effect.
func (s *Server) AnswerNext(verb string, err error) {
	var used atomic.Bool
	s.Answer(func(r Request) error {
		if (r.Verb == verb || r.isApply() && verb == "apply") && used.CompareAndSwap(false, true) {
			return err
		}
		return nil
	})
}

// Requests returns the requests to the server so far, in order, except requests that it rejected for their options.
func (s *Server) Requests() []Request { return s.answers.all() }
