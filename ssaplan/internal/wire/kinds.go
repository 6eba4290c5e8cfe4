package wire

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/ssaplan/primitives/ssaplan/internal/native"
	"github.com/ssaplan/primitives/ssaplan/server"
)

// kinds asks a server about its kinds. What the server can't tell is nil.
type kinds struct {
	resolver     native.Resolver
	discoverer   server.Discoverer
	versioner    server.Versioner
	schemaReader server.SchemaReader
	// discover sends a request for what is no object.
	discover func(ctx context.Context, request func(context.Context) error) error
}

// atOnce is discover of a client that sends these requests with the sender itself.
func atOnce(ctx context.Context, request func(context.Context) error) error { return request(ctx) }

func (k kinds) find(ctx context.Context, kind schema.GroupVersionKind) (server.Kind, error) {
	return k.resolver.Resolve(ctx, kind)
}

func (k kinds) deletable(ctx context.Context) (found Deletable, err error) {
	if k.discoverer == nil {
		return Deletable{}, errNoDiscoverer
	}
	err = k.discover(ctx, func(ctx context.Context) error {
		found.Kinds, found.Stale, err = k.discoverer.Kinds(ctx)
		return err
	})
	found.sort()
	return found, err
}

func (k kinds) schemas(ctx context.Context, gv schema.GroupVersion) (document []byte, err error) {
	if k.schemaReader == nil {
		return nil, ErrNoSchema
	}
	err = k.discover(ctx, func(ctx context.Context) error {
		document, err = k.schemaReader.Schemas(ctx, gv)
		return err
	})
	if err == nil && document == nil {
		err = ErrNoSchema
	}
	return document, err
}

// Deletable are the kinds whose objects can be listed and deleted, each in the version of its group that the server
// prefers.
type Deletable struct {
	Kinds []server.Kind // ordered by kind and group
	// Stale are the groups and versions whose server doesn't answer, so that their kinds may not be those of now.
	Stale []schema.GroupVersion
}

func (d *Deletable) sort() {
	slices.SortFunc(d.Kinds, func(a, b server.Kind) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Group, b.Group))
	})
}

// ErrNoSchema says that a definition, or a document, has no schema of a kind.
var ErrNoSchema = errors.New("no schema of the kind")

// missingKinds are the kinds that were found not to be served.
type missingKinds struct {
	mu    sync.Mutex
	kinds map[schema.GroupVersionKind]bool
}

type missingKindsKey struct{}

// RememberMissing returns a context in which a kind that the server doesn't serve is looked for only once.
func RememberMissing(ctx context.Context) context.Context {
	return context.WithValue(ctx, missingKindsKey{}, &missingKinds{kinds: map[schema.GroupVersionKind]bool{}})
}

// Find returns how the server serves a kind. A kind that it doesn't serve is an error for which meta.IsNoMatchError
// holds. Within [RememberMissing] it looks for one that is missing only once.
func (s *Server) Find(ctx context.Context, kind schema.GroupVersionKind) (server.Kind, error) {
	missing, isSet := ctx.Value(missingKindsKey{}).(*missingKinds)
	if !isSet {
		return s.kinds.find(ctx, kind)
	}
	if missing.has(kind) {
		return server.Kind{}, &meta.NoKindMatchError{GroupKind: kind.GroupKind(), SearchedVersions: []string{kind.Version}}
	}
	found, err := s.kinds.find(ctx, kind)
	if meta.IsNoMatchError(err) {
		missing.add(kind)
	}
	return found, err
}

func (m *missingKinds) has(kind schema.GroupVersionKind) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.kinds[kind]
}

func (m *missingKinds) add(kind schema.GroupVersionKind) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.kinds[kind] = true
}

// Schemas returns the document of all schemas of a group and version. It returns [ErrNoSchema] if the server has none.
func (s *Server) Schemas(ctx context.Context, gv schema.GroupVersion) ([]byte, error) {
	return s.kinds.schemas(ctx, gv)
}

// HasVersions reports whether the server shows its version and those of its schemas.
func (s *Server) HasVersions() bool { return s.kinds.versioner != nil }

// Versions returns texts that differ after a change of the server's version, and of the schemas of each group and
// version, see [server.Versioner]. It is for servers that have versions.
func (s *Server) Versions(ctx context.Context) (version string, schemas map[schema.GroupVersion]string, err error) {
	err = s.kinds.discover(ctx, func(ctx context.Context) error {
		version, schemas, err = s.kinds.versioner.Versions(ctx)
		return err
	})
	return version, schemas, err
}

// Preferred returns the kind in the version that the server prefers, for a kind without one; and if it has no group
// either, in the group that comes first: the core group, and then the server's order. A kind that nothing serves is an
// error for which meta.IsNoMatchError holds.
func (s *Server) Preferred(ctx context.Context, kind schema.GroupVersionKind) (schema.GroupVersionKind, error) {
	if kind.Version != "" {
		return kind, nil
	}
	found, err := s.kinds.find(ctx, kind)
	return found.GroupVersionKind, err
}
