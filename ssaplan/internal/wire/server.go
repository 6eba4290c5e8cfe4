package wire

import (
	"context"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/ssaplan/primitives/authresilience"
	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/internal/cached"
	"github.com/ssaplan/primitives/internal/clock"
	"github.com/ssaplan/primitives/ssaplan/internal/native"
	"github.com/ssaplan/primitives/ssaplan/internal/warnings"
	"github.com/ssaplan/primitives/ssaplan/server"
)

// Server is a Kubernetes API server. It is safe for concurrent use.
type Server struct {
	abilities
	access  native.Access // nil if the client is a server of the caller's
	sender  sender
	alive   *cached.Value[bool]
	dryRuns dryRuns
}

// New returns the server that a Planner was made for. What it can do in addition to a [server.Server] is asked once,
// here.
func New(api server.Server, options Options) *Server {
	sender := options.sender()
	s := &Server{sender: sender, alive: cached.New[bool]()}
	if access := native.Open(api, sender.sendAgain); access != nil {
		s.access = access
		s.abilities = abilities{
			objects: access.Objects, lists: true, resolver: access, discoverer: access, versioner: access,
			schemaReader: access,
			discover:     atOnce,
		}
		return s
	}
	s.abilities = abilitiesOf(api, sender.discover)
	return s
}

// atOnce is the discover function of a client that itself sends these requests with the sender.
func atOnce(ctx context.Context, request func(context.Context) error) error { return request(ctx) }

// ShareRecords returns a context in which the objects that are read, listed or tried share their managedFields with
// those of other requests, if the client can do that. These objects must not be modified or given to callers of the
// library.
func (s *Server) ShareRecords(ctx context.Context) context.Context {
	if s.access == nil {
		return ctx
	}
	return s.access.ShareRecords(ctx)
}

// Records returns the function that reads shared records, nil if none are shared.
func (s *Server) Records() fieldowner.Records {
	if s.access == nil {
		return nil
	}
	return s.access.Records()
}

// whetherBrokenOff returns the error of a request. If the connection broke and the server answers another request, the
// error concerns this request alone.
func (s *Server) whetherBrokenOff(ctx context.Context, err error) error {
	if s.access == nil || authresilience.Classify(err) != authresilience.ClassConnection {
		return err // a server of the caller has no Alive method
	}
	const patience = 5 * time.Second
	ctx, cancel := clock.WithTimeout(ctx, patience)
	defer cancel()
	_, dead := s.alive.Get(ctx, 0, func(ctx context.Context, _ bool) (bool, error) {
		if !s.access.Alive(warnings.Quiet(ctx)) {
			return false, err
		}
		return true, nil
	})
	if dead != nil {
		return err
	}
	return &authresilience.BrokenOffError{Err: err}
}

// Lacks returns what the server can't do and what that costs, a sentence each.
func (s *Server) Lacks() []string { return slices.Clone(s.lacks) }

// Lists reports whether objects can be listed.
func (s *Server) Lists() bool { return s.lists }

// Forget makes the server's kinds of a group and version be looked up again. A server of the caller's notices itself
// that a kind is gone.
func (s *Server) Forget(gv schema.GroupVersion) {
	if s.access != nil {
		s.access.Forget(gv)
	}
}
