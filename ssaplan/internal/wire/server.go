package wire

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/ssaplan/primitives/authresilience"
	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/internal/clock"
	"github.com/ssaplan/primitives/ssaplan/internal/fastjson"
	"github.com/ssaplan/primitives/ssaplan/internal/records"
	"github.com/ssaplan/primitives/ssaplan/server"
)

// Server is a Kubernetes API server. It is safe for concurrent use.
type Server struct {
	kinds   kinds
	objects func(kind server.Kind, namespace string) objects
	lists   bool     // whether the metadata of objects can be listed
	lacks   []string // what the server can't do, and what that costs
	sender  sender
	views   views

	dryRuns dryRuns
	records records.Memory

	learns    bool                      // which fields are passwords
	shows     map[schema.GroupKind]bool // whose values are shown though their marks aren't known
	passwords sync.Map                  // patterns by kind, of served definitions
	coming    sync.Map                  // patterns by kind, of other definitions
	unserved  sync.Map                  // kinds that the server doesn't serve
	firstOf   sync.Map                  // of each group and version, the first kind that was learned
}

// Connect returns the server that config leads to. It sends nothing yet. A config without QPS gets no throttle on the
// client's side. Warnings of the server go to [WarningHandler], and from there to the handler of the config. The config
// is not modified.
func Connect(config *rest.Config, options Options) (*Server, error) {
	config = rest.CopyConfig(config)
	if config.QPS == 0 {
		config.QPS = -1
	}
	config.WarningHandlerWithContext = server.WarningHandler{Others: otherWarnings(config)}
	sender := options.sender()
	if sender.observe != nil {
		config.Wrap(newMeter)
	}
	client, err := directClient(config)
	if err != nil {
		return nil, fmt.Errorf("client for %s: %w", authresilience.ShownAddress(config.Host), authresilience.Redact(err))
	}
	return &Server{
		kinds: &discoveredKinds{client: client, sender: sender}, objects: newDirectObjects(client), lists: true, sender: sender,
		learns: options.Passwords, shows: options.shows(),
	}, nil
}

type recordsKey struct{}

// ShareRecords returns a context in which the objects that are read, listed or tried share their records of
// managedFields with those of other requests. So these must not be modified, and no host may get them.
func (s *Server) ShareRecords(ctx context.Context) context.Context {
	return context.WithValue(ctx, recordsKey{}, &s.records)
}

// sharedRecords returns the records of [Server.ShareRecords], nil where none are shared.
func sharedRecords(ctx context.Context) fastjson.Records {
	if shared, _ := ctx.Value(recordsKey{}).(*records.Memory); shared != nil {
		return shared.Decoded
	}
	return nil
}

// Records tells the fields of shared records.
func (s *Server) Records() fieldowner.Records { return s.records.Fields }

// whetherBrokenOff returns the error of a request. If the connection broke and the server answers another one, it
// concerns that request alone.
func (s *Server) whetherBrokenOff(ctx context.Context, err error) error {
	if authresilience.Classify(err) != authresilience.ClassConnection {
		return err
	}
	const patience = 5 * time.Second
	ctx, cancel := clock.WithTimeout(ctx, patience)
	defer cancel()
	_, dead := s.views.of("alive").look(ctx, 0, func(ctx context.Context) (view, error) {
		if !s.kinds.alive(ctx) {
			return view{}, err
		}
		return view{}, nil
	})
	if dead != nil {
		return err
	}
	return &authresilience.BrokenOffError{Err: err}
}

// Find returns how the server serves a kind. A kind that it doesn't serve is an error for which meta.IsNoMatchError
// holds.
func (s *Server) Find(ctx context.Context, kind schema.GroupVersionKind) (server.Kind, error) {
	return findOnce(ctx, s.kinds, kind)
}

// Deletable returns the kinds that the server serves and whose objects can be listed and deleted.
func (s *Server) Deletable(ctx context.Context) (Deletable, error) { return s.kinds.deletable(ctx) }

// Lacks returns what the server can't do and what that costs, a sentence each.
func (s *Server) Lacks() []string { return slices.Clone(s.lacks) }

// Lists reports whether objects can be listed.
func (s *Server) Lists() bool { return s.lists }

// Forget makes the server's kinds of a group and version be looked up anew.
func (s *Server) Forget(gv schema.GroupVersion) { s.kinds.forget(gv) }

// Resource gives access to the objects of a kind in the namespace of an identity, which is what the requests are
// reported to be about; its name is taken from each request.
func (s *Server) Resource(kind server.Kind, object identity.Identity) *Resource {
	return &Resource{
		server: s, objects: s.objects(kind, object.Namespace), kind: kind, resource: kind.GroupVersionResource(), object: object,
		requests: new(int),
	}
}
